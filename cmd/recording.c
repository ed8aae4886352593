#include "cmd/recording.h"

#include "base/alloc.h"
#include "cmd/message.h"
#include "proc/memory.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)

enum {
	/* The rings are drained this often even when no one has reached its watermark; targets
	   without a descriptor are looked after as often. */
	TICK_MS = 100,
};

/*
 * After a stack that was larger than its copy, for so long every sample is read at once, in the
 * hope of finding its thread where it was. It costs a wake-up a sample.
 */
#define EAGER_NS SECOND_NS

bool recording_is_of_command(const struct record_options *options)
{
	return !options->pids.count && !options->tids.count && !options->system_wide &&
	       !options->cpus.count;
}

static void set_rate(const struct record_options *options, struct event *event)
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

static struct sampler_options sampler_options_of(const struct record_options *options)
{
	struct sampler_options ret = {.ring_bytes = options->ring_bytes};

	switch (options->stacks.kind) {
	case CALL_GRAPH_AUTO:
	case CALL_GRAPH_DWARF:
		ret.kernel_chain = true;
		ret.regs_mask = arch_native()->perf_mask;
		ret.stack_bytes = (uint32_t)options->stacks.dump_bytes;
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
	const struct record_options *options = recording->options;
	struct sampler_options sampler_options = sampler_options_of(options);
	pid_t command = recording->launch.pid;
	struct target target = {
		.cpus = options->cpus.items,
		.cpu_count = options->cpus.count,
		.inherit = !options->no_inherit,
	};

	sampler_options.data_mappings = recording->raw.output;
	if (recording_is_of_command(options)) {
		target.kind = TARGET_COMMAND;
		target.ids = &command;
		target.id_count = 1;
	} else if (options->pids.count) {
		target.kind = TARGET_PROCESSES;
		target.ids = options->pids.items;
		target.id_count = options->pids.count;
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

/* "/proc/PID/status", "Tgid:"; 0 when the thread is gone. -p takes any thread's number, too. */
static pid_t process_of_thread(pid_t tid)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%d/status", tid);
	CLEANUP(close_file) FILE *status = fopen(path, "re");
	char line[256];
	pid_t pid = 0;

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "Tgid: %d", &pid) == 1)
			break;
	return pid;
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

static void snapshot(struct recording *recording, pid_t pid)
{
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
	const struct record_options *options = recording->options;

	for (size_t i = 0; i < options->pids.count; i++)
		snapshot(recording, process_of_thread(options->pids.items[i]));
	for (size_t i = 0; i < options->tids.count; i++)
		snapshot(recording, process_of_thread(options->tids.items[i]));
	if (recording_is_of_command(options))
		session_set_main_process(recording->session, recording->launch.pid);
	else if (options->pids.count)
		set_main_program(recording, options->pids.items[0]);
	else if (options->tids.count)
		set_main_program(recording, options->tids.items[0]);
	else
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

	if (recording->options->delivery.quiet)
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
	if (recording->options->delivery.verbose)
		message("%zu descriptors on %u CPUs, ring buffers of %zu KiB", facts->descriptors,
			facts->cpus, facts->ring_bytes / 1024);
}

struct error *recording_open(struct recording *recording)
{
	struct error *err = open_sampler(recording);

	if (err)
		return err;
	say_what_was_opened(recording);
	recording->spaces = spaces_new("/proc");
	recording->names = names_new("/proc");
	recording->unwinder = unwinder_new(recording->spaces, arch_native());
	recording->stacks = stacks_new(memory_read);
	recording->profile = profile_new();
	if (recording->keeps_moments)
		profile_keep_moments(recording->profile);
	recording->session = session_new(recording->spaces, recording->names, recording->unwinder,
					 arch_native(), recording->profile);
	session_set_stacks(recording->session, recording->stacks);
	add_events_to_profile(recording);
	err = raw_output_begin(&recording->raw, recording->sampler, recording->events,
			       recording->event_count);
	if (err)
		return err;
	snapshot_target(recording);
	return NULL;
}

void recording_close(struct recording *recording)
{
	raw_output_deinit(&recording->raw);
	session_free(recording->session);
	profile_free(recording->profile);
	stacks_free(recording->stacks);
	unwinder_free(recording->unwinder);
	names_free(recording->names);
	spaces_free(recording->spaces);
	sampler_free(recording->sampler);
	for (size_t i = 0; i < recording->event_count; i++)
		event_deinit(&recording->events[i]);
	free(recording->events);
	if (recording->has_command)
		launch_deinit(&recording->launch);
}

static void drain(struct recording *recording)
{
	struct record record;

	sampler_batch(recording->sampler);
	while (sampler_next(recording->sampler, &record)) {
		raw_output_put(&recording->raw, &record);
		session_feed(recording->session, &record);
	}
	raw_output_end_round(&recording->raw);
}

/* Descriptors that are readable when the processes of -p have ended; -1 where there is none. */
struct targets {
	struct pollfd *fds;
	size_t count;
};

static void targets_open(struct targets *targets, const struct id_list *pids)
{
	targets->count = pids->count;
	targets->fds = xcalloc(pids->count, sizeof(*targets->fds));
	for (size_t i = 0; i < pids->count; i++)
		targets->fds[i] = (struct pollfd){
			.fd = (int)syscall(SYS_pidfd_open, process_of_thread(pids->items[i]), 0),
			.events = POLLIN,
		};
}

static void targets_close(struct targets *targets)
{
	for (size_t i = 0; i < targets->count; i++)
		close_fd(&targets->fds[i].fd);
	free(targets->fds);
}

static bool threads_have_ended(const struct id_list *tids)
{
	for (size_t i = 0; i < tids->count; i++)
		if (process_of_thread(tids->items[i]))
			return false;
	return true;
}

static bool targets_have_ended(struct targets *targets, const struct id_list *tids)
{
	if (!targets->count)
		return tids->count && threads_have_ended(tids);
	poll(targets->fds, targets->count, 0);
	for (size_t i = 0; i < targets->count; i++)
		if (targets->fds[i].fd >= 0 && !targets->fds[i].revents)
			return false;
	return true;
}

static int tick_ms(const struct recording *recording, uint64_t now_ns)
{
	uint64_t duration_ns = recording->options->duration_ns;
	uint64_t passed_ns = now_ns - recording->start_ns;

	if (!duration_ns || duration_ns - passed_ns > (uint64_t)TICK_MS * 1000000)
		return TICK_MS;
	return (int)((duration_ns - passed_ns) / 1000000) + 1;
}

static bool signal_ends(struct recording *recording)
{
	if (!signals_next(recording->signals, &recording->signal))
		return false;
	if (recording->signal.number != SIGUSR2)
		return true;
	recording->write_so_far(recording->user);
	return false;
}

static bool has_ended(struct recording *recording, const struct pollfd *fds,
		      struct targets *targets, uint64_t now_ns)
{
	uint64_t duration_ns = recording->options->duration_ns;

	if (fds[1].revents && signal_ends(recording)) {
		recording->end = END_SIGNAL;
		return true;
	}
	if (fds[2].revents) {
		recording->end = END_COMMAND;
		return true;
	}
	if (targets_have_ended(targets, &recording->options->tids)) {
		recording->end = END_TARGET;
		return true;
	}
	recording->end = END_DURATION;
	return duration_ns && now_ns - recording->start_ns >= duration_ns;
}

/* Not where a command is recorded, which has the terminal for itself. */
static void show_progress(const struct recording *recording, uint64_t now_ns)
{
	const struct session_counts *counts = session_counts(recording->session);
	const struct record_options *options = recording->options;

	if (!options->delivery.quiet && !recording_is_of_command(options))
		message_progress("recording: %.1f s, %" PRIu64 " samples, %" PRIu64 " lost",
				 (double)(now_ns - recording->start_ns) / SECOND_NS,
				 counts->samples, counts->lost);
}

/* How the rings are read: see sampler_facts. */
struct pace {
	uint64_t samples, deep; /* so far */
	uint64_t deep_ns;	/* when a stack was last larger than its copy; 0: never */
	bool rests;		/* until the next batch */
};

static void pace_after_batch(struct pace *pace, const struct session_counts *counts,
			     uint64_t now_ns)
{
	uint64_t deep = counts->completed + counts->joined + counts->truncated;
	bool idle = counts->samples == pace->samples;

	if (deep != pace->deep)
		pace->deep_ns = now_ns;
	pace->deep = deep;
	pace->samples = counts->samples;
	pace->rests = !idle && (!pace->deep_ns || now_ns - pace->deep_ns > EAGER_NS);
}

static void wait_for_records(const struct recording *recording, const struct pace *pace,
			     struct pollfd *fds, nfds_t count, int timeout_ms)
{
	int rest_ms = pace->rests ? sampler_facts(recording->sampler)->rest_ms : 0;

	if (!rest_ms)
		poll(fds, count, timeout_ms);
	else
		poll(fds + 1, count - 1, rest_ms < timeout_ms ? rest_ms : timeout_ms);
}

static void sample_until_end(struct recording *recording)
{
	CLEANUP(targets_close) struct targets targets = {0};
	struct pollfd fds[] = {
		{.fd = sampler_fd(recording->sampler), .events = POLLIN},
		{.fd = recording->signals->fd, .events = POLLIN},
		{.fd = recording->has_command ? recording->launch.pidfd : -1, .events = POLLIN},
	};
	uint64_t now_ns = recording->start_ns, second_ns = now_ns;
	struct pace pace = {0};

	targets_open(&targets, &recording->options->pids);
	do {
		wait_for_records(recording, &pace, fds, ARRAY_SIZE(fds),
				 tick_ms(recording, now_ns));
		now_ns = sampler_now_ns();
		drain(recording);
		pace_after_batch(&pace, session_counts(recording->session), now_ns);
		/* Records that are still to come are younger than the last batch. */
		if (now_ns - second_ns >= SECOND_NS) {
			session_forget(recording->session, second_ns);
			second_ns = now_ns;
			show_progress(recording, now_ns);
		}
	} while (!has_ended(recording, fds, &targets, now_ns));
	recording->end_ns = now_ns;
	message_progress_end();
}

static uint64_t unix_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

struct error *recording_run(struct recording *recording)
{
	struct error *err = sampler_enable(recording->sampler);

	recording->start_unix_ns = unix_now_ns();
	recording->start_ns = sampler_now_ns();
	if (!err && recording->has_command)
		err = launch_release(&recording->launch, recording->command[0]);
	if (err)
		return err;
	sample_until_end(recording);
	sampler_disable(recording->sampler);
	drain(recording);
	return NULL;
}
