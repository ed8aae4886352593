#include "cmd/recording.h"

#include "base/alloc.h"
#include "cmd/message.h"
#include "perf/threads.h"
#include "proc/memory.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)

enum {
	/* The rings are drained this often even when no one has reached its watermark; targets
	   without a descriptor are looked after as often. */
	TICK_MS = 100,
	/* A leisurely recording drains them as seldom, whatever is there, unless they hold less
	   than twice that; as often as this where nobody knows what comes. */
	LEISURE_MS = 50,
};

/*
 * After a stack that was larger than its copy, and at the beginning, for so long each sample is
 * attended to. It costs the sampled thread twice what the sample does.
 */
#define ATTENTIVE_NS SECOND_NS
#define FIRST_ATTENTIVE_NS (SECOND_NS / 4)

/* Samples are counted over so long a time at least; more in a second are not attended to. */
#define PACE_NS (SECOND_NS / 20)
enum { QUICK_HZ = 20000 };

static void set_rate(const struct sampling_options *options, struct event *event)
{
	if (options->period)
		event->period = options->period;
	else if (event->is_tracepoint)
		event->period = 1;
	else
		event->frequency_hz = options->rate.frequency_hz;
	event->exclude_kernel |= options->all_user;
	event->exclude_user |= options->all_kernel;
}

struct error *recording_choose_events(struct recording *recording)
{
	const struct option_list *specs = &recording->options->events;

	recording->events = xcalloc(specs->count ? specs->count : 1, sizeof(*recording->events));
	if (!specs->count)
		event_default(&recording->events[recording->event_count++],
			      &recording->event_reason);
	while (recording->event_count < specs->count) {
		struct event *event = &recording->events[recording->event_count];
		struct error *err = event_parse(specs->items[recording->event_count], event);

		if (err)
			return err;
		recording->event_count++;
	}
	for (size_t i = 0; i < recording->event_count; i++)
		set_rate(recording->options, &recording->events[i]);
	return NULL;
}

static struct sampler_options sampler_options_of(const struct recording *recording)
{
	const struct sampling_options *options = recording->options;
	struct sampler_options ret = {.ring_bytes = options->ring_bytes};

	switch (options->stacks.kind) {
	case CALL_GRAPH_AUTO:
	case CALL_GRAPH_DWARF:
		ret.kernel_chain = true;
		/* perf puts the frames that it unwinds behind those of the chain. */
		ret.user_chain = !recording->raw.output;
		ret.regs_mask = arch_native()->perf_mask;
		ret.stack_bytes = (uint32_t)options->stacks.dump_bytes;
		ret.read_memory = recording->is_leisurely ? NULL : memory_read;
		/* As though there were deep stacks. */
		ret.attends = true;
		ret.sp_bit = arch_native()->perf_sp;
		ret.pc_bit = arch_native()->perf_pc;
		break;
	case CALL_GRAPH_FP:
		ret.kernel_chain = true;
		ret.user_chain = true;
		break;
	case CALL_GRAPH_NO:
		break;
	}
	return ret;
}

static struct error *open_sampler(struct recording *recording)
{
	const struct sampling_options *options = recording->options;
	struct sampler_options sampler_options = sampler_options_of(recording);
	pid_t command = recording->launch.pid;
	struct target target = {
		.cpus = options->cpus.items,
		.cpu_count = options->cpus.count,
		.inherit = !options->no_inherit,
	};

	sampler_options.data_mappings = recording->raw.output;
	sampler_options.starts_late = recording->delay_ns;
	if (sampling_is_of_command(options)) {
		target.kind = TARGET_COMMAND;
		target.ids = &command;
		target.id_count = 1;
	} else if (options->pids.count) {
		target.kind = TARGET_PROCESSES;
		target.ids = options->pids.items;
		target.id_count = options->pids.count;
		target.were_found = options->user.is_given;
	} else if (options->tids.count) {
		target.kind = TARGET_THREADS;
		target.ids = options->tids.items;
		target.id_count = options->tids.count;
	} else {
		target.kind = TARGET_SYSTEM;
	}
	return sampler_open(recording->events, recording->event_count, &target, &sampler_options,
			    &recording->sampler);
}

static void set_main_program(struct recording *recording, pid_t pid)
{
	CLEANUP(free_ptr) char *link = xasprintf("/proc/%d/exe", pid);
	char path[4096];
	ssize_t len = readlink(link, path, sizeof(path) - 1);

	if (len <= 0)
		return;
	path[len] = '\0';
	session_set_main_path(recording->session, path);
}

static void add_threads(struct recording *recording, pid_t pid)
{
	CLEANUP(thread_list_deinit) struct thread_list threads = {0};

	/* It may have ended by now. */
	error_free(thread_list_add_process(&threads, pid));
	for (size_t i = 0; i < threads.count; i++)
		session_add_thread(recording->session, pid, threads.items[i]);
}

static void snapshot(struct recording *recording, pid_t pid)
{
	add_threads(recording, pid);
	spaces_snapshot(recording->spaces, pid, sampler_now_ns());
	raw_output_add_process(&recording->raw, recording->names, pid);
}

static void snapshot_all(struct recording *recording)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]))
			snapshot(recording, (pid_t)atoi(entry->d_name));
	if (proc)
		closedir(proc);
}

/* What is mapped already. The side band counts by now, so that nothing falls between. */
static void snapshot_target(struct recording *recording)
{
	const struct sampling_options *options = recording->options;

	for (size_t i = 0; i < options->pids.count; i++)
		snapshot(recording, process_of_thread(options->pids.items[i]));
	for (size_t i = 0; i < options->tids.count; i++)
		snapshot(recording, process_of_thread(options->tids.items[i]));
	if (sampling_is_of_command(options))
		session_set_main_process(recording->session, recording->launch.pid);
	else if (options->pids.count && !options->user.is_given)
		set_main_program(recording, options->pids.items[0]);
	else if (options->tids.count)
		set_main_program(recording, options->tids.items[0]);
	else if (!options->pids.count)
		snapshot_all(recording);
}

static void add_events_to_profile(struct recording *recording)
{
	struct strtab *strings = profile_strings(recording->profile);

	for (size_t i = 0; i < recording->event_count; i++) {
		const struct event *event = &recording->events[i];
		struct profile_event description = {
			.name = strtab_add(strings, event->name),
			.counts_ns = event->counts_ns,
			.period = event->period,
			.frequency_hz = event->frequency_hz,
		};

		profile_add_event(recording->profile, &description);
	}
}

static void say_what_was_opened(const struct recording *recording)
{
	const struct sampler_facts *facts = sampler_facts(recording->sampler);

	if (recording->quiet)
		return;
	if (recording->event_reason)
		message("sampling %s: %s", recording->events[0].name, recording->event_reason);
	if (facts->kernel_excluded && !recording->options->all_user)
		message("user space only: the kernel is not ours to sample (sudo sysctl "
			"kernel.perf_event_paranoid=1 allows it)");
	if (facts->ring_shrunk)
		message("ring buffers of %zu KiB a CPU, all that may be locked (ulimit -l, "
			"kernel.perf_event_mlock_kb)",
			facts->ring_bytes / 1024);
	if (recording->verbose)
		message("%zu descriptors on %u CPUs, ring buffers of %zu KiB", facts->descriptors,
			facts->cpus, facts->ring_bytes / 1024);
}

/* Everything between the rings and the profile. */
static void open_session(struct recording *recording)
{
	recording->spaces = spaces_new("/proc");
	recording->names = names_new("/proc");
	recording->unwinder = unwinder_new(recording->spaces, arch_native());
	recording->profile = profile_new();
	if (recording->keeps_moments)
		profile_keep_moments(recording->profile);
	recording->session = session_new(recording->spaces, recording->names, recording->unwinder,
					 arch_native(), recording->profile);
	session_set_depth(recording->session, (unsigned)recording->options->depth);
	add_events_to_profile(recording);
}

static void close_session(struct recording *recording)
{
	session_free(recording->session);
	profile_free(recording->profile);
	unwinder_free(recording->unwinder);
	names_free(recording->names);
	spaces_free(recording->spaces);
}

struct error *recording_open(struct recording *recording)
{
	struct error *err = open_sampler(recording);

	if (err)
		return err;
	say_what_was_opened(recording);
	open_session(recording);
	targets_open(&recording->targets, &recording->options->pids, &recording->options->tids);
	err = raw_output_begin(&recording->raw, recording->sampler, recording->events,
			       recording->event_count);
	if (err)
		return err;
	snapshot_target(recording);
	return NULL;
}

void recording_close(struct recording *recording)
{
	targets_close(&recording->targets);
	raw_output_deinit(&recording->raw);
	close_session(recording);
	sampler_free(recording->sampler);
	for (size_t i = 0; i < recording->event_count; i++)
		event_deinit(&recording->events[i]);
	free(recording->events);
	if (recording->has_command)
		launch_deinit(&recording->launch);
}

void recording_drain(struct recording *recording)
{
	struct record record;

	sampler_batch(recording->sampler);
	while (sampler_next(recording->sampler, &record)) {
		raw_output_put(&recording->raw, &record);
		session_feed(recording->session, &record);
		sampler_expect_stack(recording->sampler, record.tid,
				     session_stack_extent(recording->session));
	}
	raw_output_end_round(&recording->raw);
}

void recording_renew(struct recording *recording)
{
	close_session(recording);
	open_session(recording);
	/* The new session counts from 0. */
	recording->pace.samples = recording->pace.deep = 0;
	/* Not only the targets: what they have forked is followed, too. */
	snapshot_all(recording);
}

/* How long to wait at most: not past the end of the recording, nor past what the caller waits for.
 */
static int wait_ms(const struct recording *recording, uint64_t deadline_ns)
{
	uint64_t now_ns = sampler_now_ns(), until_ns = now_ns + TICK_MS * UINT64_C(1000000);

	if (recording->duration_ns && recording->start_ns + recording->duration_ns < until_ns)
		until_ns = recording->start_ns + recording->duration_ns;
	if (deadline_ns && deadline_ns < until_ns)
		until_ns = deadline_ns;
	if (recording->begins_ns && recording->begins_ns < until_ns)
		until_ns = recording->begins_ns;
	return until_ns > now_ns ? (int)((until_ns - now_ns) / 1000000) + 1 : 0;
}

static bool signal_ends(struct recording *recording)
{
	if (!signals_next(recording->signals, &recording->signal))
		return false;
	if (recording->signal.number != SIGUSR2)
		return true;
	if (recording->write_so_far)
		recording->write_so_far(recording->user);
	return false;
}

static bool has_ended(struct recording *recording, const struct pollfd *fds)
{
	if (fds[1].revents && signal_ends(recording)) {
		recording->end = END_SIGNAL;
		return true;
	}
	if (fds[2].revents) {
		recording->end = END_COMMAND;
		return true;
	}
	if (targets_have_ended(&recording->targets)) {
		recording->end = END_TARGET;
		return true;
	}
	recording->end = END_DURATION;
	return recording->duration_ns && !recording->begins_ns &&
	       recording->end_ns - recording->start_ns >= recording->duration_ns;
}

static void pace_begin(struct recording *recording)
{
	recording->pace.samples_ns = sampler_now_ns();
	if (sampler_attends(recording->sampler))
		recording->pace.deep_ns = recording->pace.samples_ns -
					  (ATTENTIVE_NS - FIRST_ATTENTIVE_NS);
}

static void pace_after_batch(struct recording *recording)
{
	const struct session_counts *counts = session_counts(recording->session);
	struct pace *pace = &recording->pace;
	uint64_t now_ns = recording->end_ns, passed_ns = now_ns - pace->samples_ns;

	if (passed_ns >= PACE_NS) {
		pace->is_quick = (counts->samples - pace->samples) * SECOND_NS / passed_ns >
				 QUICK_HZ * sampler_facts(recording->sampler)->cpus;
		pace->samples = counts->samples;
		pace->samples_ns = now_ns;
	}
	if (counts->deep != pace->deep)
		pace->deep_ns = now_ns;
	pace->deep = counts->deep;
	sampler_attend(recording->sampler,
		       !pace->is_quick && now_ns - pace->deep_ns < ATTENTIVE_NS);
}

static void wait_for_records(const struct recording *recording, struct pollfd *fds, nfds_t count,
			     int timeout_ms)
{
	const struct sampler_facts *facts = sampler_facts(recording->sampler);
	int attended_ms = facts->attended_ms;
	int leisure_ms = facts->holds_ms ? facts->holds_ms / 2 : LEISURE_MS;
	int ready;

	if (sampler_attends(recording->sampler) && attended_ms < timeout_ms)
		timeout_ms = attended_ms;
	if (recording->is_leisurely)
		ready = poll(fds + 1, count - 1, timeout_ms < leisure_ms ? timeout_ms : leisure_ms);
	else
		ready = poll(fds, count, timeout_ms);
	/* A signal that somebody else handles says nothing of the descriptors. */
	for (nfds_t i = 0; ready < 0 && i < count; i++)
		fds[i].revents = 0;
}

static uint64_t unix_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static void note_start(struct recording *recording)
{
	recording->start_unix_ns = unix_now_ns();
	recording->start_ns = recording->end_ns = sampler_now_ns();
}

/* What comes before is no part of the recording, but for where what is mapped. */
static void begin_late(struct recording *recording)
{
	struct error *err = sampler_enable(recording->sampler);

	recording->begins_ns = 0;
	note_start(recording);
	if (err)
		message_error(err);
}

bool recording_step(struct recording *recording, uint64_t deadline_ns, int other_fd)
{
	struct pollfd fds[] = {
		{.fd = sampler_fd(recording->sampler), .events = POLLIN},
		{.fd = recording->signals->fd, .events = POLLIN},
		{.fd = recording->has_command ? recording->launch.pidfd : -1, .events = POLLIN},
		{.fd = other_fd, .events = POLLIN},
	};

	wait_for_records(recording, fds, ARRAY_SIZE(fds), wait_ms(recording, deadline_ns));
	recording->end_ns = sampler_now_ns();
	recording_drain(recording);
	pace_after_batch(recording);
	if (recording->begins_ns && recording->end_ns >= recording->begins_ns)
		begin_late(recording);
	/* Records that are still to come are younger than the last batch. */
	if (recording->end_ns - recording->second_ns >= SECOND_NS) {
		session_forget(recording->session, recording->second_ns);
		recording->second_ns = recording->end_ns;
	}
	return !has_ended(recording, fds);
}

struct error *recording_start(struct recording *recording)
{
	struct error *err = NULL;

	pace_begin(recording);
	if (!recording->delay_ns)
		err = sampler_enable(recording->sampler);
	note_start(recording);
	recording->second_ns = recording->start_ns;
	if (recording->delay_ns)
		recording->begins_ns = recording->start_ns + recording->delay_ns;
	if (!err && recording->has_command)
		err = launch_release(&recording->launch, recording->command[0]);
	return err;
}

void recording_stop(struct recording *recording)
{
	sampler_disable(recording->sampler);
	recording_drain(recording);
}
