#include "record/recorder.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "record/arrivals.h"
#include "record/cgroup_labels.h"
#include "record/consumers.h"
#include "record/field_labels.h"
#include "record/fresh_maps.h"
#include "record/raw_file.h"
#include "record/recording_source.h"
#include "record/sampling.h"
#include "record/target_snapshot.h"
#include "record/targets.h"
#include "unwind/arch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

/* Number of threads that may have ended before their samples are folded into
 * their processes. */
enum { FOLD_COUNT = 16384 };

/* Interval of reads during a pause, for mappings and exits. */
enum { PAUSED_TICK_MS = 100 };

/* Maximum number of the agent's batches to read when the reader waits for all
 * of them. */
enum { BATCHES_MAX = 3 };

/* Interval of checks for new processes of the target. */
enum { ARRIVALS_MS = 500 };

/* The events that wake the recorder. */
struct waking {
	struct loop *loop;
	struct loop_watch *records; /* NULL if records are read only at intervals */
	struct loop_timer *timer;
	uint64_t next_ns; /* latest time to read the next batch; 0 for no limit */
};

/* The target and its processes. */
struct recorded {
	struct targets targets;
	struct arrivals arrivals; /* processes of config->target.choice */
	struct loop_timer *arrivals_timer;
	bool choice_is_over;
	bool is_awaited; /* waiting for the first process because of config->target.is_awaited */
	pid_t command;	 /* from recorder_add_command(); 0 for none yet */
};

/* Filters and labels for samples. */
struct admission {
	struct sample_filter filter;
	struct fresh_maps fresh_maps;	     /* mappings without a record */
	struct cgroup_labels *cgroup_labels; /* NULL if samples have no such labels */
	uint64_t triggers;		     /* number of samples of config->events.trigger */
};

struct span {
	struct recorder_window window;
	uint64_t rotated_ns;   /* start of the profile; 0 if it is the start of the window */
	uint64_t begins_ns;    /* when sampling starts; 0 if it has started or waits for
				  recorder_resume() */
	uint64_t paused_ns;    /* total time of the pauses in the window */
	uint64_t forgotten_ns; /* time of the last session_forget(), once per second */
	bool has_begun;	       /* the window has started */
	bool is_paused;
	bool was_paused; /* not all of the target's time was sampled */
	bool is_stopped;
	enum recorder_end end;
};

struct recorder {
	const struct record_config *config;
	const struct listener *listener;
	struct sampling sampling;
	struct recording_source *source; /* NULL if not open */
	struct pipeline pipeline;
	struct raw_file raw;
	struct consumers consumers;
	struct waking waking;
	struct recorded recorded;
	struct admission admission;
	struct span span;
};

struct error *recorder_new(const struct record_config *config, const struct listener *listener,
			   struct recorder **ret)
{
	struct recorder *recorder = xcalloc(1, sizeof(*recorder));
	struct error *err = sampling_choose(&recorder->sampling, config);

	recorder->config = config;
	recorder->listener = listener;
	if (err)
		recorder_free(recorder);
	else
		*ret = recorder;
	return err;
}

static void add_waiting_event(struct recorder *recorder, const char *name, enum value_kind kind)
{
	struct strtab *strings = profile_strings(recorder->pipeline.profile);

	session_add_event(recorder->pipeline.session, &(struct profile_event){
							      .name = strtab_add(strings, name),
							      .kind = kind,
						      });
}

static void recorder_add_events(struct recorder *recorder)
{
	struct strtab *strings = profile_strings(recorder->pipeline.profile);

	for (size_t i = 0; i < recorder->sampling.event_count; i++) {
		const struct event *event = &recorder->sampling.events[i];
		struct profile_event description = {
			.name = strtab_add(strings, event->name),
			.kind = event->kind,
			.period = event->measures_calls
					  ? 0
					  : event->period * (event->scale ? event->scale : 1),
			.frequency_hz = event->frequency_hz,
		};

		session_add_event(recorder->pipeline.session, &description);
		if (event_counts_occurrences(event->type, event->config, event->period))
			session_count_occurrences(recorder->pipeline.session, (unsigned)i);
	}
	if (recorder->config->waiting.is_recorded)
		add_waiting_event(recorder, VALUE_OFF_CPU_EVENT, VALUE_OFF_CPU_TIME);
	if (recorder->config->waiting.records_elapsed)
		add_waiting_event(recorder, VALUE_ELAPSED_EVENT, VALUE_WALL_TIME);
	if (recorder->config->waiting.finds_critical_path)
		add_waiting_event(recorder, VALUE_CRITICAL_PATH_EVENT, VALUE_WALL_TIME);
	if (recorder->config->waiting.records_awaits)
		add_waiting_event(recorder, VALUE_AWAIT_EVENT, VALUE_WALL_TIME);
}

/* Whether copiers can read what samples lack. */
static bool captures(const struct recorder *recorder)
{
	return recording_source_sampler(recorder->source) &&
	       recording_source_facts(recorder->source)->can_capture;
}

static void open_pipeline(struct recorder *recorder)
{
	const struct record_config *config = recorder->config;

	pipeline_open(&recorder->pipeline,
		      &(struct pipeline_options){
			      .arch = arch_native(),
			      .debug_dir = config->output.debug_dir,
			      .depth = config->stacks.depth,
			      .scripts = captures(recorder) || config->waiting.is_recorded
						 ? recorder->sampling.scripts
						 : NULL,
			      .fold_count = config->output.folds_ended ? FOLD_COUNT : 0,
			      .needs_timestamps = config->output.needs_timestamps,
			      .counts_polls = config->output.counts_polls,
		      });
	recorder_add_events(recorder);
	recorder->admission.fresh_maps.spaces = recorder->pipeline.spaces;
	if (!recording_source_sampler(recorder->source))
		recorder->admission.fresh_maps.inside = recording_source_library(recorder->source);
	session_set_fresh_maps(recorder->pipeline.session, &recorder->admission.fresh_maps);
	if (config->output.labels_cgroups && !recorder->admission.cgroup_labels)
		recorder->admission.cgroup_labels = cgroup_labels_new("/proc");
	session_set_cgroup_labels(recorder->pipeline.session, recorder->admission.cgroup_labels);
	consumers_tell(&recorder->consumers, (struct moment){.kind = SESSION_BEGINS});
}

static void recorder_settle_consumers(struct recorder *recorder, struct moment how)
{
	how.kind = SETTLES;
	how.now_ns = recorder->span.window.end_ns;
	consumers_tell(&recorder->consumers, how);
}

static void recorder_settle_profile(struct recorder *recorder, struct moment how)
{
	recorder_settle_consumers(recorder, how);
	profile_sort_intervals(recorder->pipeline.profile);
}

void recorder_settle(struct recorder *recorder)
{
	recorder_settle_profile(recorder,
				(struct moment){.profile_ends = recorder->span.is_stopped});
}

void recorder_settle_end(struct recorder *recorder)
{
	recorder_settle_profile(recorder, (struct moment){.profile_ends = true});
}

void recorder_settle_time(struct recorder *recorder)
{
	recorder_settle_profile(
		recorder,
		(struct moment){.in_place = true, .profile_ends = recorder->span.is_stopped});
}

/* The trigger event is the last sampled event. */
static void count_trigger(struct recorder *recorder, const struct record *record)
{
	if (recorder->config->events.trigger && record->type == RECORD_SAMPLE &&
	    record->sample.event + 1 == recorder->sampling.event_count &&
	    !record->sample.is_other_end)
		recorder->admission.triggers++;
}

static void begin_window(struct recorder *recorder, uint64_t now_ns)
{
	recorder->span.window.start_unix_ns = clock_unix_ns();
	recorder->span.window.start_ns = recorder->span.window.end_ns = now_ns;
	recorder->span.rotated_ns = 0;
	recorder->span.paused_ns = 0;
}

static void end_wait_for_target(struct recorder *recorder)
{
	if (recorder->recorded.is_awaited)
		begin_window(recorder, clock_now_ns());
	recorder->recorded.is_awaited = false;
}

static bool follows_rule(const struct recorder *recorder)
{
	return recording_source_facts(recorder->source)->follows_rule;
}

/* Whether to look for new processes of the target. */
static bool awaits_arrivals(const struct recorder *recorder)
{
	return recorder->config->target.choice &&
	       (recorder->recorded.is_awaited || !follows_rule(recorder));
}

static bool takes(struct recorder *recorder, const struct record *record)
{
	if (awaits_arrivals(recorder))
		arrivals_feed(&recorder->recorded.arrivals, record);
	if (!sample_filter_takes(&recorder->admission.filter, recorder->pipeline.names, record))
		return false;
	if (record->type == RECORD_SAMPLE)
		end_wait_for_target(recorder);
	return true;
}

static void feed(struct recorder *recorder, struct record *record)
{
	struct session *session = recorder->pipeline.session;

	count_trigger(recorder, record);
	consumers_see(&recorder->consumers, record);
	if (!takes(recorder, record))
		return;
	raw_file_put(&recorder->raw, record);
	if (consumers_feed(&recorder->consumers, record))
		return;
	session_feed(session, record);
	consumers_feed_again(&recorder->consumers, record);
	recording_source_after_record(recorder->source, record, session);
}

static void end_batch(struct recorder *recorder)
{
	struct moment moment = {
		.kind = BATCH_ENDS,
		.now_ns = recorder->span.window.end_ns,
		.complete_ns = recording_source_complete_ns(recorder->source),
	};

	error_free(consumers_at(&recorder->consumers, &moment));
	recorder->waking.next_ns = moment.next_ns;
}

void recorder_drain(struct recorder *recorder)
{
	struct record record;

	if (!recorder->span.is_stopped && !recorder->span.is_paused)
		recorder->span.window.end_ns = clock_now_ns();
	recording_source_batch(recorder->source);
	while (recording_source_next(recorder->source, &record))
		feed(recorder, &record);
	raw_file_end_round(&recorder->raw);
	end_batch(recorder);
}

/* Reads all records. The number of batches is limited, because a program can
 * fill the agent's rings with records that take long to read. */
static void drain_completely(struct recorder *recorder)
{
	struct inside_source *library = recording_source_library(recorder->source);

	recorder_drain(recorder);
	for (unsigned i = 1; library && inside_source_is_cut(library); i++) {
		if (i < BATCHES_MAX)
			recorder_drain(recorder);
		else
			inside_source_skip(library);
	}
}

uint64_t recorder_drain_up_to_now(struct recorder *recorder)
{
	uint64_t now_ns = clock_now_ns();

	do
		drain_completely(recorder);
	while (recording_source_complete_ns(recorder->source) < now_ns);
	return recording_source_complete_ns(recorder->source);
}

/* Returns the end of the duration, or 0 if there is no duration or it is not
 * running. */
static uint64_t deadline_ns(const struct recorder *recorder)
{
	return recorder->config->control.duration_ns && !recorder->span.is_paused &&
			       !recorder->recorded.is_awaited
		       ? recorder->span.window.start_ns + recorder->span.paused_ns +
				 recorder->config->control.duration_ns
		       : 0;
}

static enum recorder_end recorder_find_end(const struct recorder *recorder)
{
	uint64_t end_ns = deadline_ns(recorder);

	if (recorder->recorded.choice_is_over || targets_have_ended(&recorder->recorded.targets))
		return RECORDER_TARGET_ENDED;
	return end_ns && recorder->span.window.end_ns >= end_ns ? RECORDER_DURATION_OVER
								: RECORDER_RUNS;
}

static uint64_t recorder_earlier(uint64_t at_ns, uint64_t or_ns)
{
	return or_ns && or_ns < at_ns ? or_ns : at_ns;
}

/* The rings are read at intervals even if no record wakes the reader. */
static void set_timer(struct recorder *recorder)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t next_ns = recorder->span.is_paused
				   ? now_ns + PAUSED_TICK_MS * NS_PER_MS
				   : recording_source_next_ns(recorder->source, now_ns);

	next_ns = recorder_earlier(next_ns, deadline_ns(recorder));
	next_ns = recorder_earlier(next_ns, recorder->waking.next_ns);
	loop_set_timer(recorder->waking.timer, recorder_earlier(next_ns, recorder->span.begins_ns));
}

void recorder_pause(struct recorder *recorder)
{
	uint64_t now_ns;

	if (recorder->span.is_paused || recorder->span.is_stopped)
		return;
	recording_source_pause(recorder->source);
	consumers_tell(&recorder->consumers, (struct moment){.kind = SAMPLING_IS_OFF});
	now_ns = recorder_drain_up_to_now(recorder);
	recorder->span.window.end_ns = now_ns;
	recorder->span.is_paused = recorder->span.was_paused = true;
	consumers_tell(&recorder->consumers,
		       (struct moment){.kind = SAMPLING_PAUSES, .now_ns = now_ns});
}

/* The time since the window's end was not sampled. */
static void end_pause(struct recorder *recorder, uint64_t now_ns)
{
	uint64_t paused_ns = now_ns - recorder->span.window.end_ns;

	recording_source_skip(recorder->source, paused_ns);
	recorder->span.paused_ns += paused_ns;
	if (recorder->span.rotated_ns == recorder->span.window.end_ns)
		recorder->span.rotated_ns = now_ns;
	recorder->span.window.end_ns = now_ns;
	recorder->span.is_paused = false;
	if (!recorder->span.has_begun)
		begin_window(recorder, now_ns);
	recorder->span.has_begun = true;
}

static void recorder_snapshot(struct recorder *recorder)
{
	if (follows_rule(recorder))
		target_snapshot_all(&recorder->pipeline, &recorder->raw);
	else
		target_snapshot(recorder->config, &recorder->pipeline, &recorder->raw);
}

/* If the side band starts with sampling, the existing mappings must be read
 * again. */
static struct error *recorder_enable(struct recorder *recorder, uint64_t now_ns)
{
	struct error *err = recording_source_enable(recorder->source);

	if (!err && recording_source_facts(recorder->source)->is_joint) {
		recorder_snapshot(recorder);
		consumers_tell(&recorder->consumers, (struct moment){.kind = TARGET_BEGINS,
								     .now_ns = now_ns,
								     .has_executed = true});
	}
	return err ? err
		   : consumers_at(&recorder->consumers,
				  &(struct moment){.kind = SAMPLING_RESUMES, .now_ns = now_ns});
}

static struct error *resume(struct recorder *recorder)
{
	uint64_t now_ns = recorder_drain_up_to_now(recorder);

	recorder->span.begins_ns = 0;
	end_pause(recorder, now_ns);
	return recorder_enable(recorder, now_ns);
}

struct error *recorder_resume(struct recorder *recorder)
{
	struct error *err;

	if (!recorder->span.is_paused || recorder->span.is_stopped)
		return NULL;
	err = resume(recorder);
	set_timer(recorder);
	return err;
}

static void begin_late(struct recorder *recorder)
{
	CLEANUP(error_cleanup) struct error *err = resume(recorder);

	if (err)
		listener_problem(recorder->listener, "%s", error_text(err));
}

/* Called by the loop when a ring has enough records, when the timer expires, or
 * when the target has ended. */
static void recorder_step(void *user)
{
	struct recorder *recorder = user;
	struct session *session = recorder->pipeline.session;
	uint64_t now_ns = clock_now_ns();

	if (recorder->span.end != RECORDER_RUNS)
		return;
	recorder_drain(recorder);
	if (!recorder->span.is_paused)
		recording_source_after_batch(recorder->source, session, now_ns);
	if (recorder->span.begins_ns && now_ns >= recorder->span.begins_ns)
		begin_late(recorder);
	/* Further records are newer than the last batch. */
	if (now_ns - recorder->span.forgotten_ns >= NS_PER_SECOND) {
		session_forget(session, recorder->span.forgotten_ns);
		recorder->span.forgotten_ns = now_ns;
	}
	recorder->span.end = recorder_find_end(recorder);
	set_timer(recorder);
	if (recorder->waking.records)
		loop_rest(recorder->waking.loop, recorder->waking.records,
			  recording_source_throttled_until_ns(recorder->source, now_ns));
}

static void add_arrival(struct recorder *recorder, pid_t pid)
{
	if (!recording_source_add_process(recorder->source, pid))
		return;
	arrivals_add(&recorder->recorded.arrivals, pid);
	/* If whole CPUs are sampled, its mappings are known. */
	if (follows_rule(recorder))
		return;
	target_snapshot_process(&recorder->pipeline, &recorder->raw, pid);
	consumers_tell(
		&recorder->consumers,
		(struct moment){.kind = PROCESS_JOINS, .pid = pid, .now_ns = clock_now_ns()});
}

/* The records are read after the list of processes, so that they contain the
 * forks of all listed children. */
static void add_arrivals(struct recorder *recorder)
{
	CLEANUP(free_ptr) pid_t *pids = NULL;
	size_t count;

	process_choice_list(recorder->config->target.choice, &pids, &count);
	recorder_drain_up_to_now(recorder);
	arrivals_forget_ended(&recorder->recorded.arrivals);
	if (count)
		end_wait_for_target(recorder);
	for (size_t i = 0; i < count; i++)
		if (!arrivals_is_sampled(&recorder->recorded.arrivals, pids[i]))
			add_arrival(recorder, pids[i]);
}

static void look_for_arrivals(void *user)
{
	struct recorder *recorder = user;

	if (recorder->span.end != RECORDER_RUNS)
		return;
	recorder->recorded.choice_is_over = process_choice_is_over(recorder->config->target.choice);
	if (recorder->recorded.choice_is_over)
		recorder_step(recorder);
	else if (awaits_arrivals(recorder))
		add_arrivals(recorder);
	loop_set_timer(recorder->recorded.arrivals_timer, clock_now_ns() + ARRIVALS_MS * NS_PER_MS);
}

/* New processes may have started since config->target.pids were listed. */
static void begin_arrivals(struct recorder *recorder)
{
	const struct record_config *config = recorder->config;

	if (!config->target.choice)
		return;
	for (size_t i = 0; i < config->target.pid_count; i++)
		arrivals_add(&recorder->recorded.arrivals, config->target.pids[i]);
	add_arrivals(recorder);
	recorder->recorded.arrivals_timer = loop_add_timer(recorder->waking.loop, look_for_arrivals,
							   recorder);
	loop_set_timer(recorder->recorded.arrivals_timer, clock_now_ns() + ARRIVALS_MS * NS_PER_MS);
}

static void recorder_close(struct recorder *recorder)
{
	loop_unwatch(recorder->waking.loop, STEAL(recorder->waking.records));
	consumers_tell(&recorder->consumers, (struct moment){.kind = RECORDING_CLOSES});
	loop_remove_timer(STEAL(recorder->waking.timer));
	loop_remove_timer(STEAL(recorder->recorded.arrivals_timer));
	targets_close(&recorder->recorded.targets);
	raw_file_deinit(&recorder->raw);
	pipeline_close(&recorder->pipeline);
	cgroup_labels_free(STEAL(recorder->admission.cgroup_labels));
	sample_filter_deinit(&recorder->admission.filter);
	arrivals_deinit(&recorder->recorded.arrivals);
	fresh_maps_deinit(&recorder->admission.fresh_maps);
	recording_source_close(STEAL(recorder->source));
}

void recorder_free(struct recorder *recorder)
{
	if (!recorder)
		return;
	recorder_close(recorder);
	sampling_deinit(&recorder->sampling);
	free(recorder);
}

static struct error *recorder_open_all(struct recorder *recorder, int raw_fd)
{
	const struct record_config *config = recorder->config;
	struct error *err = recording_source_open(config, recorder->listener, &recorder->sampling,
						  &recorder->source);

	if (err) {
		close_fd(&raw_fd);
		return err;
	}
	recorder->consumers.options = (struct consumers_options){
		.config = config,
		.listener = recorder->listener,
		.sampling = &recorder->sampling,
		.source = recorder->source,
		.pipeline = &recorder->pipeline,
		.loop = recorder->waking.loop,
		.step = recorder_step,
		.user = recorder,
	};
	open_pipeline(recorder);
	sample_filter_init(&recorder->admission.filter, config->target.thread_names,
			   config->target.thread_name_count, config->target.keeps_own);
	err = consumers_at(&recorder->consumers, &(struct moment){.kind = RECORDING_OPENS});
	if (err)
		return err;
	if (config->output.writes_raw)
		raw_file_begin(&recorder->raw, raw_fd, recording_source_sampler(recorder->source),
			       recorder->sampling.events);
	recorder->waking.timer = loop_add_timer(recorder->waking.loop, recorder_step, recorder);
	err = targets_open(&recorder->recorded.targets, config, recorder->waking.loop,
			   recorder_step, recorder);
	if (!err)
		recorder_snapshot(recorder);
	return err;
}

struct error *recorder_open(struct recorder *recorder, struct loop *loop, int raw_fd)
{
	struct error *err;

	recorder->waking.loop = loop;
	err = recorder_open_all(recorder, raw_fd);
	if (err)
		recorder_close(recorder);
	return err;
}

/* Starts the recording with a pause. The target is known, and sampling starts
 * later. */
static void start_paused(struct recorder *recorder)
{
	recording_source_pause(recorder->source);
	recorder->span.is_paused = recorder->span.was_paused = true;
	consumers_tell(
		&recorder->consumers,
		(struct moment){.kind = SAMPLING_PAUSES, .now_ns = recorder->span.window.start_ns});
}

struct error *recorder_start(struct recorder *recorder)
{
	const struct record_config *config = recorder->config;
	struct error *err = NULL;

	recording_source_start(recorder->source);
	begin_window(recorder, clock_now_ns());
	consumers_tell(
		&recorder->consumers,
		(struct moment){.kind = TARGET_BEGINS, .now_ns = recorder->span.window.start_ns});
	recorder->span.has_begun = !record_config_starts_late(config);
	if (recorder->span.has_begun)
		err = recorder_enable(recorder, recorder->span.window.start_ns);
	else
		start_paused(recorder);
	if (config->control.delay_ns && !config->target.commands_later)
		recorder->span.begins_ns = recorder->span.window.start_ns +
					   config->control.delay_ns;
	recorder->span.forgotten_ns = recorder->span.window.start_ns;
	recorder->recorded.is_awaited = config->target.is_awaited;
	begin_arrivals(recorder);
	/* With low overhead, the rings are read only at intervals. */
	if (!err && !config->stacks.low_overhead && recording_source_fd(recorder->source) >= 0)
		err = loop_watch(recorder->waking.loop, recording_source_fd(recorder->source),
				 recorder_step, recorder, &recorder->waking.records);
	set_timer(recorder);
	return err;
}

static struct error *begin_after_delay(struct recorder *recorder)
{
	if (!recorder->config->control.delay_ns)
		return recorder_resume(recorder);
	recorder->span.begins_ns = clock_now_ns() + recorder->config->control.delay_ns;
	set_timer(recorder);
	return NULL;
}

static struct error *begin_with_command(struct recorder *recorder, pid_t pid)
{
	recorder->recorded.command = pid;
	session_set_main_process(recorder->pipeline.session, pid);
	return recorder->config->control.starts_paused ? NULL : begin_after_delay(recorder);
}

struct error *recorder_add_command(struct recorder *recorder, pid_t pid)
{
	struct error *err = recorder->recorded.command ? NULL : begin_with_command(recorder, pid);

	recording_source_add_command(recorder->source, pid);
	return err;
}

void recorder_name_command(struct recorder *recorder, pid_t pid, const char *comm, const char *name)
{
	session_name_process(recorder->pipeline.session, pid, comm, name);
}

static void recorder_tell_other_values(const struct recorder *recorder)
{
	uint64_t samples = session_counts(recorder->pipeline.session)->other_values;

	if (samples)
		listener_notice(recorder->listener, FIELD_OTHER_NOTICE, samples, FIELD_VALUES_MAX);
}

void recorder_stop(struct recorder *recorder)
{
	loop_unwatch(recorder->waking.loop, STEAL(recorder->waking.records));
	loop_set_timer(recorder->waking.timer, 0);
	recording_source_disable(recorder->source);
	consumers_tell(&recorder->consumers, (struct moment){.kind = SAMPLING_STOPS});
	drain_completely(recorder);
	recorder_tell_other_values(recorder);
	session_tell_runtimes(recorder->pipeline.session, recorder->listener);
	consumers_tell(
		&recorder->consumers,
		(struct moment){.kind = RECORDS_END, .was_paused = recorder->span.was_paused});
	recorder->span.is_stopped = true;
}

struct recorder_window recorder_profile_window(const struct recorder *recorder)
{
	struct recorder_window window = recorder->span.window;

	if (recorder->span.rotated_ns) {
		window.start_unix_ns += recorder->span.rotated_ns - window.start_ns;
		window.start_ns = recorder->span.rotated_ns;
	}
	return window;
}

struct profile *recorder_rotate(struct recorder *recorder, struct recorder_window *window)
{
	struct profile *finished;

	recorder_settle_consumers(recorder, (struct moment){.profile_ends = true});
	finished = pipeline_rotate(&recorder->pipeline);
	consumers_tell(&recorder->consumers,
		       (struct moment){.kind = PROFILE_BEGINS, .finished = finished});
	recording_source_restart(recorder->source);
	*window = recorder_profile_window(recorder);
	recorder->span.rotated_ns = window->end_ns;
	return finished;
}

void recorder_renew(struct recorder *recorder)
{
	const pid_t pid = recorder->recorded.command ? recorder->recorded.command
						     : targets_main_process(recorder->config);
	CLEANUP(free_ptr)
	char *name = pid ? xstrdup(names_get(recorder->pipeline.names, pid, pid)) : NULL;

	recorder_settle_consumers(recorder, (struct moment){.profile_ends = true});
	consumers_tell(&recorder->consumers, (struct moment){.kind = SESSION_ENDS});
	pipeline_close(&recorder->pipeline);
	open_pipeline(recorder);
	consumers_tell(&recorder->consumers, (struct moment){.kind = PROFILE_BEGINS});
	recording_source_restart(recorder->source);
	/* Takes a snapshot of all processes, because children of the target are
	 * sampled, too. */
	target_snapshot_all(&recorder->pipeline, &recorder->raw);
	if (!pid)
		return;
	target_snapshot_main_program(&recorder->pipeline, pid);
	names_set(recorder->pipeline.names, pid, name);
}

uint64_t recorder_trigger_count(const struct recorder *recorder)
{
	return recorder->admission.triggers;
}

void recorder_flush_raw(struct recorder *recorder)
{
	raw_file_flush(&recorder->raw);
}

struct error *recorder_finish_raw(struct recorder *recorder, const char *command)
{
	return raw_file_end(&recorder->raw, recorder->pipeline.spaces, command);
}

enum recorder_end recorder_end(const struct recorder *recorder)
{
	return recorder->span.end;
}

const struct pipeline *recorder_pipeline(const struct recorder *recorder)
{
	return &recorder->pipeline;
}

const struct unsampled *recorder_unsampled(const struct recorder *recorder)
{
	return recorder->consumers.accounting.unsampled;
}

struct waiting_quality recorder_waiting(const struct recorder *recorder)
{
	return waiting_quality(recorder->consumers.waiting);
}

const struct sampler_facts *recorder_facts(const struct recorder *recorder)
{
	return recording_source_facts(recorder->source);
}

bool recorder_needs_library(const struct recorder *recorder)
{
	return recording_source_needs_library(recorder->source);
}

const char *recorder_remarks(const struct recorder *recorder)
{
	return recording_source_remarks(recorder->source);
}

struct memory_counts recorder_memory(const struct recorder *recorder)
{
	return memory_counts(recorder->consumers.memory);
}

const struct lost_execs *recorder_lost_execs(const struct recorder *recorder)
{
	return &recorder->consumers.lost_execs;
}

struct sample_filter_counts recorder_left_out(const struct recorder *recorder)
{
	return recorder->admission.filter.counts;
}

struct inside_counts recorder_inside(const struct recorder *recorder)
{
	return recording_source_inside(recorder->source);
}

struct stat_counts recorder_stat(const struct recorder *recorder)
{
	return recorder->consumers.stat.now;
}

bool recorder_is_paused(const struct recorder *recorder)
{
	return recorder->span.is_paused;
}

bool recorder_is_over(const struct recorder *recorder)
{
	return recorder_find_end(recorder) != RECORDER_RUNS;
}

struct recorder_window recorder_window(const struct recorder *recorder)
{
	return recorder->span.window;
}
