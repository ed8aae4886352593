#include "record/recorder.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "record/arrivals.h"
#include "record/awaits.h"
#include "record/balancing.h"
#include "record/cgroup_labels.h"
#include "record/field_labels.h"
#include "record/fresh_maps.h"
#include "record/intake.h"
#include "record/latencies.h"
#include "record/lost_execs.h"
#include "record/memory.h"
#include "record/raw_file.h"
#include "record/sampling.h"
#include "record/stat_counting.h"
#include "record/target_snapshot.h"
#include "record/targets.h"
#include "record/waiting.h"
#include "unwind/arch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

/* Threads that may have ended before their samples are folded into their processes. */
enum { FOLD_COUNT = 16384 };

/* In a pause the rings are read this often, for what is mapped and who has ended. */
enum { PAUSED_TICK_MS = 100 };

/*
 * A thread finds the stacks of as many CPUs at 999 Hz with a tenth of its own; records are looked
 * at in advance that take half a millisecond, and no more than a cache holds of what was decoded.
 */
enum { CPUS_OF_READER = 32, RECORDS_AHEAD = 512 };

/* Batches of the library's records at a time when the reader waits for all of them. */
enum { BATCHES_MAX = 3 };

/* How often processes are looked for that belong to the target, too. */
enum { ARRIVALS_MS = 500 };

struct recorder {
	const struct record_config *config;
	const struct listener *listener;
	struct sampling sampling;
	struct intake *intake; /* NULL: not open */
	struct pipeline pipeline;
	struct raw_file raw;
	struct fresh_maps fresh_maps; /* that no record has told of */
	struct balancing balancing;
	struct waiting *waiting;     /* NULL: waiting is not recorded */
	struct awaits *awaits;	     /* NULL: where tasks wait is not recorded */
	struct latencies *latencies; /* NULL: no event measures calls */
	struct memory *memory;	     /* NULL: memory is not recorded */
	struct stat_counting stat;
	struct lost_execs lost_execs;
	bool watches_execs; /* events are of tasks, not of whole CPUs */
	uint64_t waits_ns;  /* when to call waiting_end_batch(); 0: at any time */
	uint64_t triggers;  /* samples of config->trigger_event */

	struct loop *loop;
	struct loop_watch *records;
	struct loop_timer *timer;
	struct targets targets;
	struct arrivals arrivals; /* of config->choice */
	struct loop_timer *arrivals_timer;
	bool choice_is_over;
	struct sample_filter filter;
	struct record *ahead; /* 2 * RECORDS_AHEAD; NULL: records are taken one by one */
	struct cgroup_labels *cgroup_labels; /* NULL: samples have none */

	struct recorder_window window;
	uint64_t rotated_ns; /* the profile began then; 0: with the window */
	uint64_t begins_ns;  /* sampling begins then; 0: with recorder_resume(), or it has */
	bool is_paused;
	bool has_begun;	       /* the window */
	bool waits_for_target; /* config->waits_for_target, and there is no process yet */
	bool was_paused;       /* not all of the target's time was sampled */
	uint64_t paused_ns;    /* the time of all pauses in the window */
	uint64_t forgotten_ns; /* session_forget() was called then: once per second */
	enum recorder_end end;
	pid_t command; /* of recorder_add_command(); 0: none yet */
	bool is_stopped;
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

static void add_events(struct recorder *recorder)
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
	if (recorder->config->records_waiting)
		add_waiting_event(recorder, VALUE_OFF_CPU_EVENT, VALUE_OFF_CPU_TIME);
	if (recorder->config->records_awaits)
		add_waiting_event(recorder, VALUE_AWAIT_EVENT, VALUE_WALL_TIME);
}

static unsigned count_readers(const struct recorder *recorder)
{
	unsigned cpus = intake_facts(recorder->intake)->cpus;

	if (!intake_may_keep(recorder->intake))
		return 1;
	if (recorder->config->readers)
		return recorder->config->readers;
	return (cpus + CPUS_OF_READER - 1) / CPUS_OF_READER;
}

static void open_pipeline(struct recorder *recorder)
{
	const struct record_config *config = recorder->config;
	unsigned readers = count_readers(recorder);

	pipeline_open(&recorder->pipeline,
		      &(struct pipeline_options){
			      .arch = arch_native(),
			      .debug_dir = config->debug_dir,
			      .depth = config->depth,
			      .fold_count = config->folds_ended ? FOLD_COUNT : 0,
			      .threads = readers,
			      .needs_timestamps = config->needs_timestamps,
			      .counts_polls = config->counts_polls,
		      });
	if (readers > 1 && !recorder->ahead)
		recorder->ahead = xcalloc(2 * RECORDS_AHEAD, sizeof(*recorder->ahead));
	add_events(recorder);
	recorder->fresh_maps.spaces = recorder->pipeline.spaces;
	if (!intake_sampler(recorder->intake))
		recorder->fresh_maps.inside = intake_library(recorder->intake);
	session_set_fresh_maps(recorder->pipeline.session, &recorder->fresh_maps);
	if (config->alloc_period)
		recorder->memory = memory_new(recorder->pipeline.session, config->alloc_period);
	if (config->labels_cgroups && !recorder->cgroup_labels)
		recorder->cgroup_labels = cgroup_labels_new("/proc");
	session_set_cgroup_labels(recorder->pipeline.session, recorder->cgroup_labels);
	recorder->latencies = latencies_new(&(struct latencies_options){
		.session = recorder->pipeline.session,
		.events = recorder->sampling.events,
		.event_count = recorder->sampling.event_count,
		.least_ns = config->least_call_ns,
		.sp_bit = arch_native()->perf_sp,
	});
}

static void settle_all(struct recorder *recorder, bool profile_ends)
{
	stat_counting_settle(&recorder->stat);
	balancing_settle(&recorder->balancing, &recorder->pipeline, true);
	waiting_settle(recorder->waiting, recorder->window.end_ns, profile_ends);
	awaits_settle(recorder->awaits, recorder->pipeline.session);
	memory_settle(recorder->memory, recorder->window.end_ns);
}

void recorder_settle(struct recorder *recorder)
{
	settle_all(recorder, recorder->is_stopped);
}

void recorder_settle_end(struct recorder *recorder)
{
	settle_all(recorder, true);
}

void recorder_settle_time(struct recorder *recorder)
{
	balancing_settle(&recorder->balancing, &recorder->pipeline, true);
	waiting_settle(recorder->waiting, recorder->window.end_ns, recorder->is_stopped);
}

static void balance_batch(struct recorder *recorder)
{
	if (balance_ends_switches(recorder->balancing.balance, clock_now_ns()) &&
	    !recorder->waiting)
		intake_end_switches(recorder->intake);
	balance_read_threads(recorder->balancing.balance, clock_now_ns());
	if (balance_is_full(recorder->balancing.balance))
		balancing_settle(&recorder->balancing, &recorder->pipeline, false);
}

/* The event is the last one that is sampled. */
static void count_trigger(struct recorder *recorder, const struct record *record)
{
	if (recorder->config->trigger_event && record->type == RECORD_SAMPLE &&
	    record->sample.event + 1 == recorder->sampling.event_count &&
	    !record->sample.is_other_end)
		recorder->triggers++;
}

static void begin_window(struct recorder *recorder, uint64_t now_ns)
{
	recorder->window.start_unix_ns = clock_unix_ns();
	recorder->window.start_ns = recorder->window.end_ns = now_ns;
	recorder->rotated_ns = 0;
	recorder->paused_ns = 0;
}

static void end_wait_for_target(struct recorder *recorder)
{
	if (recorder->waits_for_target)
		begin_window(recorder, clock_now_ns());
	recorder->waits_for_target = false;
}

static bool follows_rule(const struct recorder *recorder)
{
	return intake_facts(recorder->intake)->follows_rule;
}

/* Whether processes are looked for that belong to the target, too. */
static bool awaits_arrivals(const struct recorder *recorder)
{
	return recorder->config->choice && (recorder->waits_for_target || !follows_rule(recorder));
}

static bool takes(struct recorder *recorder, const struct record *record)
{
	if (awaits_arrivals(recorder))
		arrivals_feed(&recorder->arrivals, record);
	if (!sample_filter_takes(&recorder->filter, recorder->pipeline.names, record))
		return false;
	if (record->type == RECORD_SAMPLE)
		end_wait_for_target(recorder);
	return true;
}

static void feed(struct recorder *recorder, struct record *record)
{
	struct session *session = recorder->pipeline.session;

	count_trigger(recorder, record);
	balance_feed(recorder->balancing.balance, recorder->pipeline.names, record);
	if (recorder->watches_execs)
		lost_execs_feed(&recorder->lost_execs, record);
	if (!takes(recorder, record))
		return;
	raw_file_put(&recorder->raw, record);
	waiting_feed(recorder->waiting, record);
	awaits_feed(recorder->awaits, record);
	if (latencies_feed(recorder->latencies, record))
		return;
	memory_feed(recorder->memory, record);
	session_feed(session, record);
	waiting_feed_again(recorder->waiting, record);
	intake_after_record(recorder->intake, record, session);
}

/* The next records, up to the first one that does not stay where it is. 0: the batch is over. */
static size_t take_ahead(struct recorder *recorder, struct record *records)
{
	size_t count = 0;

	while (count < RECORDS_AHEAD && intake_next(recorder->intake, &records[count]))
		if (!record_stays(&records[count++]))
			break;
	return count;
}

/*
 * While other threads look at records, this one takes the next ones out of the rings. To give them
 * back looks at all rings, so that is not done after each record, where none stays.
 */
static void drain_ahead(struct recorder *recorder)
{
	struct session *session = recorder->pipeline.session;
	struct record *now = recorder->ahead, *next = recorder->ahead + RECORDS_AHEAD;
	size_t count, next_count, kept = 0;

	intake_keep(recorder->intake);
	count = take_ahead(recorder, now);
	while (count) {
		bool stays = record_stays(&now[count - 1]);
		struct record *looked_at = now;

		session_look_ahead(session, now, count);
		next_count = stays ? take_ahead(recorder, next) : 0;
		session_finish_look(session);
		for (size_t i = 0; i < count; i++)
			feed(recorder, &now[i]);
		kept += count;
		count = stays ? next_count : take_ahead(recorder, next);
		now = next;
		next = looked_at;
		if (kept < RECORDS_AHEAD)
			continue;
		intake_keep(recorder->intake);
		kept = 0;
	}
	intake_end_keeping(recorder->intake);
}

void recorder_drain(struct recorder *recorder)
{
	struct record record;

	if (!recorder->is_stopped && !recorder->is_paused)
		recorder->window.end_ns = clock_now_ns();
	intake_batch(recorder->intake);
	if (recorder->ahead)
		drain_ahead(recorder);
	while (intake_next(recorder->intake, &record))
		feed(recorder, &record);
	raw_file_end_round(&recorder->raw);
	balance_batch(recorder);
	awaits_settle(recorder->awaits, recorder->pipeline.session);
	recorder->waits_ns = waiting_end_batch(recorder->waiting, recorder->window.end_ns,
					       intake_complete_ns(recorder->intake));
}

/* A program can fill its library's lanes with what takes long to read. */
static void drain_completely(struct recorder *recorder)
{
	struct inside_source *library = intake_library(recorder->intake);

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
	while (intake_complete_ns(recorder->intake) < now_ns);
	return intake_complete_ns(recorder->intake);
}

/* When the duration is over; 0: there is no duration, or it does not pass. */
static uint64_t deadline_ns(const struct recorder *recorder)
{
	return recorder->config->duration_ns && !recorder->is_paused && !recorder->waits_for_target
		       ? recorder->window.start_ns + recorder->paused_ns +
				 recorder->config->duration_ns
		       : 0;
}

static enum recorder_end find_end(const struct recorder *recorder)
{
	uint64_t end_ns = deadline_ns(recorder);

	if (recorder->choice_is_over || targets_have_ended(&recorder->targets))
		return RECORDER_TARGET_ENDED;
	return end_ns && recorder->window.end_ns >= end_ns ? RECORDER_DURATION_OVER : RECORDER_RUNS;
}

static uint64_t earlier(uint64_t at_ns, uint64_t or_ns)
{
	return or_ns && or_ns < at_ns ? or_ns : at_ns;
}

/* The rings are read at intervals even if no record wakes the reader. */
static void set_timer(struct recorder *recorder)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t next_ns = recorder->is_paused ? now_ns + PAUSED_TICK_MS * NS_PER_MS
					       : intake_next_ns(recorder->intake, now_ns);

	next_ns = earlier(next_ns, deadline_ns(recorder));
	next_ns = earlier(next_ns, recorder->waits_ns);
	loop_set_timer(recorder->timer, earlier(next_ns, recorder->begins_ns));
}

void recorder_pause(struct recorder *recorder)
{
	uint64_t now_ns;

	if (recorder->is_paused || recorder->is_stopped)
		return;
	intake_pause(recorder->intake);
	stat_counting_disable(&recorder->stat);
	now_ns = recorder_drain_up_to_now(recorder);
	recorder->window.end_ns = now_ns;
	recorder->is_paused = recorder->was_paused = true;
	balance_pause(recorder->balancing.balance, now_ns);
	waiting_pause(recorder->waiting, now_ns);
	awaits_pause(recorder->awaits);
}

/* The time since the window's end was not sampled. */
static void end_pause(struct recorder *recorder, uint64_t now_ns)
{
	uint64_t paused_ns = now_ns - recorder->window.end_ns;

	intake_skip(recorder->intake, paused_ns);
	recorder->paused_ns += paused_ns;
	if (recorder->rotated_ns == recorder->window.end_ns)
		recorder->rotated_ns = now_ns;
	recorder->window.end_ns = now_ns;
	recorder->is_paused = false;
	if (!recorder->has_begun)
		begin_window(recorder, now_ns);
	recorder->has_begun = true;
	balance_resume(recorder->balancing.balance, now_ns);
}

static void snapshot(struct recorder *recorder)
{
	if (follows_rule(recorder))
		target_snapshot_all(&recorder->pipeline, &recorder->raw);
	else
		target_snapshot(recorder->config, &recorder->pipeline, &recorder->raw);
}

/* Where the side band begins with sampling, what was mapped before has to be read again. */
static struct error *enable(struct recorder *recorder, uint64_t now_ns)
{
	struct error *err = intake_enable(recorder->intake);

	stat_counting_enable(&recorder->stat);
	awaits_resume(recorder->awaits);
	if (!err && intake_facts(recorder->intake)->is_joint) {
		snapshot(recorder);
		waiting_begin(recorder->waiting, now_ns);
		awaits_add_target(recorder->awaits, true);
	}
	return err ? err : waiting_resume(recorder->waiting, now_ns);
}

static struct error *resume(struct recorder *recorder)
{
	uint64_t now_ns = recorder_drain_up_to_now(recorder);

	recorder->begins_ns = 0;
	end_pause(recorder, now_ns);
	return enable(recorder, now_ns);
}

struct error *recorder_resume(struct recorder *recorder)
{
	struct error *err;

	if (!recorder->is_paused || recorder->is_stopped)
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

/* Called by the loop: a ring is worth reading, the timer is due, or the target has ended. */
static void step(void *user)
{
	struct recorder *recorder = user;
	struct session *session = recorder->pipeline.session;
	uint64_t now_ns = clock_now_ns();

	if (recorder->end != RECORDER_RUNS)
		return;
	recorder_drain(recorder);
	if (!recorder->is_paused)
		intake_after_batch(recorder->intake, session, now_ns);
	if (recorder->begins_ns && now_ns >= recorder->begins_ns)
		begin_late(recorder);
	/* Records that are still to come are younger than the last batch. */
	if (now_ns - recorder->forgotten_ns >= NS_PER_SECOND) {
		session_forget(session, recorder->forgotten_ns);
		recorder->forgotten_ns = now_ns;
	}
	recorder->end = find_end(recorder);
	set_timer(recorder);
	if (recorder->records)
		loop_rest(recorder->loop, recorder->records,
			  intake_rests_until_ns(recorder->intake, now_ns));
}

static void add_arrival(struct recorder *recorder, pid_t pid)
{
	if (!intake_add_process(recorder->intake, pid))
		return;
	arrivals_add(&recorder->arrivals, pid);
	/* Where whole CPUs are sampled, what it has mapped is known. */
	if (follows_rule(recorder))
		return;
	target_snapshot_process(&recorder->pipeline, &recorder->raw, pid);
	balancing_add_process(&recorder->balancing, pid);
}

/* What the records up to now say of children comes after the list of who runs. */
static void add_arrivals(struct recorder *recorder)
{
	CLEANUP(free_ptr) pid_t *pids = NULL;
	size_t count;

	process_choice_list(recorder->config->choice, &pids, &count);
	recorder_drain_up_to_now(recorder);
	arrivals_forget_ended(&recorder->arrivals);
	if (count)
		end_wait_for_target(recorder);
	for (size_t i = 0; i < count; i++)
		if (!arrivals_is_sampled(&recorder->arrivals, pids[i]))
			add_arrival(recorder, pids[i]);
}

static void look_for_arrivals(void *user)
{
	struct recorder *recorder = user;

	if (recorder->end != RECORDER_RUNS)
		return;
	recorder->choice_is_over = process_choice_is_over(recorder->config->choice);
	if (recorder->choice_is_over)
		step(recorder);
	else if (awaits_arrivals(recorder))
		add_arrivals(recorder);
	loop_set_timer(recorder->arrivals_timer, clock_now_ns() + ARRIVALS_MS * NS_PER_MS);
}

/* Others may have come since config->pids were listed. */
static void begin_arrivals(struct recorder *recorder)
{
	const struct record_config *config = recorder->config;

	if (!config->choice)
		return;
	for (size_t i = 0; i < config->pid_count; i++)
		arrivals_add(&recorder->arrivals, config->pids[i]);
	add_arrivals(recorder);
	recorder->arrivals_timer = loop_add_timer(recorder->loop, look_for_arrivals, recorder);
	loop_set_timer(recorder->arrivals_timer, clock_now_ns() + ARRIVALS_MS * NS_PER_MS);
}

static void recorder_close(struct recorder *recorder)
{
	loop_unwatch(recorder->loop, STEAL(recorder->records));
	waiting_close(STEAL(recorder->waiting));
	awaits_close(STEAL(recorder->awaits));
	loop_remove_timer(STEAL(recorder->timer));
	loop_remove_timer(STEAL(recorder->arrivals_timer));
	targets_close(&recorder->targets);
	raw_file_deinit(&recorder->raw);
	memory_free(STEAL(recorder->memory));
	stat_counting_close(&recorder->stat);
	latencies_free(STEAL(recorder->latencies));
	pipeline_close(&recorder->pipeline);
	cgroup_labels_free(STEAL(recorder->cgroup_labels));
	sample_filter_deinit(&recorder->filter);
	arrivals_deinit(&recorder->arrivals);
	lost_execs_deinit(&recorder->lost_execs);
	fresh_maps_deinit(&recorder->fresh_maps);
	intake_close(STEAL(recorder->intake));
	balancing_close(&recorder->balancing);
}

void recorder_free(struct recorder *recorder)
{
	if (!recorder)
		return;
	recorder_close(recorder);
	sampling_deinit(&recorder->sampling);
	free(recorder->ahead);
	free(recorder);
}

/* The kernel removes events of tasks alone. */
static void begin_lost_execs(struct recorder *recorder)
{
	const struct record_config *config = recorder->config;
	const struct sampler_facts *facts = intake_facts(recorder->intake);
	bool is_of_tasks = config->command || config->pid_count || config->choice ||
			   config->tid_count;

	recorder->lost_execs = (struct lost_execs){.command = config->command_words};
	recorder->watches_execs = is_of_tasks && !facts->is_tree && !facts->follows_rule;
}

static struct error *open_all(struct recorder *recorder, int raw_fd)
{
	const struct record_config *config = recorder->config;
	struct error *err = intake_open(config, recorder->listener, &recorder->sampling,
					&recorder->intake);

	if (err) {
		close_fd(&raw_fd);
		return err;
	}
	open_pipeline(recorder);
	begin_lost_execs(recorder);
	sample_filter_init(&recorder->filter, config->thread_names, config->thread_name_count,
			   config->keeps_own);
	balancing_open(&recorder->balancing, config, &recorder->sampling, recorder->intake);
	stat_counting_open(&recorder->stat, config, &recorder->sampling);
	err = waiting_open(
		&(struct waiting_options){
			.config = config,
			.listener = recorder->listener,
			.pmus = &recorder->sampling.pmus,
			.pipeline = &recorder->pipeline,
			.event = (unsigned)recorder->sampling.event_count,
			.loop = recorder->loop,
			.step = step,
			.user = recorder,
		},
		&recorder->waiting);
	if (err)
		return err;
	err = awaits_open(
		&(struct awaits_options){
			.config = config,
			.listener = recorder->listener,
			.event = (unsigned)recorder->sampling.event_count + config->records_waiting,
		},
		&recorder->awaits);
	if (err)
		return err;
	if (config->writes_raw)
		raw_file_begin(&recorder->raw, raw_fd, intake_sampler(recorder->intake),
			       recorder->sampling.events);
	recorder->timer = loop_add_timer(recorder->loop, step, recorder);
	err = targets_open(&recorder->targets, config, recorder->loop, step, recorder);
	if (!err)
		snapshot(recorder);
	return err;
}

struct error *recorder_open(struct recorder *recorder, struct loop *loop, int raw_fd)
{
	struct error *err;

	recorder->loop = loop;
	err = open_all(recorder, raw_fd);
	if (err)
		recorder_close(recorder);
	return err;
}

/* The target is known from now on; its sampling begins later. */
static void start_paused(struct recorder *recorder)
{
	intake_pause(recorder->intake);
	recorder->is_paused = recorder->was_paused = true;
	balance_pause(recorder->balancing.balance, recorder->window.start_ns);
}

struct error *recorder_start(struct recorder *recorder)
{
	const struct record_config *config = recorder->config;
	struct error *err = NULL;

	intake_start(recorder->intake);
	begin_window(recorder, clock_now_ns());
	waiting_begin(recorder->waiting, recorder->window.start_ns);
	awaits_add_target(recorder->awaits, false);
	recorder->has_begun = !record_config_starts_late(config);
	if (recorder->has_begun)
		err = enable(recorder, recorder->window.start_ns);
	else
		start_paused(recorder);
	if (config->delay_ns && !config->commands_later)
		recorder->begins_ns = recorder->window.start_ns + config->delay_ns;
	recorder->forgotten_ns = recorder->window.start_ns;
	recorder->waits_for_target = config->waits_for_target;
	begin_arrivals(recorder);
	/* With low overhead the rings are read at intervals only. */
	if (!err && !config->low_overhead && intake_fd(recorder->intake) >= 0)
		err = loop_watch(recorder->loop, intake_fd(recorder->intake), step, recorder,
				 &recorder->records);
	if (!err)
		err = waiting_watch(recorder->waiting);
	set_timer(recorder);
	return err;
}

static struct error *begin_after_delay(struct recorder *recorder)
{
	if (!recorder->config->delay_ns)
		return recorder_resume(recorder);
	recorder->begins_ns = clock_now_ns() + recorder->config->delay_ns;
	set_timer(recorder);
	return NULL;
}

static struct error *begin_with_command(struct recorder *recorder, pid_t pid)
{
	recorder->command = pid;
	session_set_main_process(recorder->pipeline.session, pid);
	return recorder->config->starts_paused ? NULL : begin_after_delay(recorder);
}

struct error *recorder_add_command(struct recorder *recorder, pid_t pid)
{
	struct error *err = recorder->command ? NULL : begin_with_command(recorder, pid);

	intake_add_command(recorder->intake, pid);
	return err;
}

void recorder_name_command(struct recorder *recorder, pid_t pid, const char *comm, const char *name)
{
	session_name_process(recorder->pipeline.session, pid, comm, name);
}

static void tell_other_values(const struct recorder *recorder)
{
	uint64_t samples = session_counts(recorder->pipeline.session)->other_values;

	if (samples)
		listener_notice(recorder->listener, FIELD_OTHER_NOTICE, samples, FIELD_VALUES_MAX);
}

void recorder_stop(struct recorder *recorder)
{
	loop_unwatch(recorder->loop, STEAL(recorder->records));
	loop_set_timer(recorder->timer, 0);
	intake_disable(recorder->intake);
	stat_counting_disable(&recorder->stat);
	waiting_end(recorder->waiting);
	awaits_pause(recorder->awaits);
	drain_completely(recorder);
	awaits_tell(recorder->awaits);
	tell_other_values(recorder);
	latencies_tell(recorder->latencies, recorder->listener);
	balancing_end(&recorder->balancing, recorder->was_paused);
	recorder->is_stopped = true;
}

struct recorder_window recorder_profile_window(const struct recorder *recorder)
{
	struct recorder_window window = recorder->window;

	if (recorder->rotated_ns) {
		window.start_unix_ns += recorder->rotated_ns - window.start_ns;
		window.start_ns = recorder->rotated_ns;
	}
	return window;
}

struct profile *recorder_rotate(struct recorder *recorder, struct recorder_window *window)
{
	struct profile *finished;

	settle_all(recorder, true);
	balance_begin_profile(recorder->balancing.balance);
	stat_counting_begin_profile(&recorder->stat);
	finished = pipeline_rotate(&recorder->pipeline);
	memory_begin_profile(recorder->memory, finished);
	latencies_begin_profile(recorder->latencies);
	waiting_begin_profile(recorder->waiting);
	intake_restart(recorder->intake);
	*window = recorder_profile_window(recorder);
	recorder->rotated_ns = window->end_ns;
	return finished;
}

void recorder_renew(struct recorder *recorder)
{
	const pid_t pid = recorder->command ? recorder->command
					    : targets_main_process(recorder->config);
	CLEANUP(free_ptr)
	char *name = pid ? xstrdup(names_get(recorder->pipeline.names, pid, pid)) : NULL;

	settle_all(recorder, true);
	balance_begin_profile(recorder->balancing.balance);
	stat_counting_begin_profile(&recorder->stat);
	memory_free(STEAL(recorder->memory));
	latencies_free(STEAL(recorder->latencies));
	pipeline_close(&recorder->pipeline);
	awaits_forget_modules(recorder->awaits);
	open_pipeline(recorder);
	waiting_begin_profile(recorder->waiting);
	intake_restart(recorder->intake);
	/* Of all processes: children of the targets are sampled, too. */
	target_snapshot_all(&recorder->pipeline, &recorder->raw);
	if (!pid)
		return;
	target_snapshot_main_program(&recorder->pipeline, pid);
	names_set(recorder->pipeline.names, pid, name);
}

uint64_t recorder_trigger_count(const struct recorder *recorder)
{
	return recorder->triggers;
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
	return recorder->end;
}

const struct pipeline *recorder_pipeline(const struct recorder *recorder)
{
	return &recorder->pipeline;
}

const struct balance *recorder_balance(const struct recorder *recorder)
{
	return recorder->balancing.balance;
}

struct waiting_quality recorder_waiting(const struct recorder *recorder)
{
	return waiting_quality(recorder->waiting);
}

const struct sampler_facts *recorder_facts(const struct recorder *recorder)
{
	return intake_facts(recorder->intake);
}

bool recorder_needs_library(const struct recorder *recorder)
{
	return intake_needs_library(recorder->intake);
}

const char *recorder_remarks(const struct recorder *recorder)
{
	return intake_remarks(recorder->intake);
}

struct memory_counts recorder_memory(const struct recorder *recorder)
{
	return memory_counts(recorder->memory);
}

const struct lost_execs *recorder_lost_execs(const struct recorder *recorder)
{
	return &recorder->lost_execs;
}

struct sample_filter_counts recorder_left_out(const struct recorder *recorder)
{
	return recorder->filter.counts;
}

struct inside_counts recorder_inside(const struct recorder *recorder)
{
	return intake_inside(recorder->intake);
}

struct stat_counts recorder_stat(const struct recorder *recorder)
{
	return recorder->stat.now;
}

bool recorder_is_paused(const struct recorder *recorder)
{
	return recorder->is_paused;
}

bool recorder_is_over(const struct recorder *recorder)
{
	return find_end(recorder) != RECORDER_RUNS;
}

struct recorder_window recorder_window(const struct recorder *recorder)
{
	return recorder->window;
}
