#include "record/balancing.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/descendants.h"
#include "perf/field_reader.h"
#include "perf/threads.h"
#include "proc/usage.h"
#include "record/targets.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void add_children(struct balancing *balancing)
{
	const struct record_config *config = balancing->config;
	CLEANUP(free_ptr) pid_t *children = NULL;
	size_t count;

	descendants_list(config->pids, config->pid_count, &children, &count);
	for (size_t i = 0; i < count; i++)
		balancing_add_process(balancing, children[i]);
}

static void add_targets(struct balancing *balancing)
{
	const struct record_config *config = balancing->config;

	for (size_t i = 0; i < config->pid_count; i++)
		balancing_add_process(balancing, process_of_thread(config->pids[i]));
	for (size_t i = 0; i < config->tid_count; i++)
		balance_add_thread(balancing->balance, process_of_thread(config->tids[i]),
				   config->tids[i]);
	if (config->with_children)
		add_children(balancing);
}

void balancing_open(struct balancing *balancing, const struct record_config *config,
		    const struct sampling *sampling, const struct intake *intake)
{
	const struct sampler_facts *facts = intake_facts(intake);
	size_t processes = config->pid_count + config->tid_count;

	*balancing = (struct balancing){.config = config, .sampling = sampling, .intake = intake};
	balancing->balance = balance_new(&(struct balance_options){
		.event_count = (unsigned)sampling->event_count,
		.cpu_count = facts->cpus,
		.has_switches = facts->has_switches,
		.with_children = config->inherit,
		.proc = "/proc",
		/* Whole CPUs miss nothing: what they sampled too little is chance. */
		.adds_missing = config->adds_unsampled && !facts->is_tree && !facts->follows_rule &&
				!config->thread_name_count && (config->command || processes),
		.main_pid = config->commands_later	      ? 0
			    : config->command		      ? config->command
			    : processes > 1 || config->choice ? 0
			    : config->pid_count		      ? config->pids[0]
			    : config->tid_count		      ? process_of_thread(config->tids[0])
							      : 0,
	});
	if (balance_reads_threads(balancing->balance))
		add_targets(balancing);
}

void balancing_add_process(struct balancing *balancing, pid_t pid)
{
	CLEANUP(thread_list_deinit) struct thread_list threads = {0};

	if (!balance_reads_threads(balancing->balance))
		return;
	/* It may have ended by now. */
	error_free(thread_list_add_process(&threads, pid));
	for (size_t i = 0; i < threads.count; i++)
		balance_add_thread(balancing->balance, pid, threads.items[i]);
	GROW(balancing->processes, balancing->process_count, balancing->process_room);
	balancing->processes[balancing->process_count++] =
		(struct balanced_process){pid, usage_in_kernel_ns("/proc", pid)};
}

void balancing_close(struct balancing *balancing)
{
	balance_free(balancing->balance);
	free(balancing->processes);
	*balancing = (struct balancing){0};
}

/*
 * A clock that leaves out the user's or the kernel's part by request counts both all the same. What
 * is counted of a tracepoint or a probe is not what fields and arguments weigh, and of later
 * commands not filtered. What a group's samples do not tell is not known to be missing.
 */
static bool is_comparable(const struct balancing *balancing, const struct event *event)
{
	if ((event->reader && field_reader_has_weight(event->reader)) ||
	    event->weight_argument.register_bit || event->role == EVENT_COUNTED ||
	    (event->filter && balancing->config->commands_later))
		return false;
	return event->kind != VALUE_CPU_TIME || (!event->exclude_user && !event->exclude_kernel);
}

/*
 * Whole CPUs sample a clock by chance, and of other events the kernel estimates the periods that
 * keep a frequency. Counters of the hardware may not have counted all the time.
 */
static bool is_exact(const struct balancing *balancing, const struct event *event)
{
	if (event->kind == VALUE_CPU_TIME)
		return intake_facts(balancing->intake)->is_tree;
	return event_is_software(event) && event->frequency_hz;
}

/* How long the target was in the kernel so far, as far as it is known. */
static uint64_t kernel_ns(const struct balancing *balancing)
{
	const pid_t command = balancing->config->command;
	uint64_t ns = balancing->command_kernel_ns;

	if (!ns && command)
		ns = usage_in_kernel_ns("/proc", command);
	for (size_t i = 0; i < balancing->process_count; i++) {
		const struct balanced_process *process = &balancing->processes[i];
		uint64_t now_ns = usage_in_kernel_ns("/proc", process->pid);

		if (now_ns > process->kernel_before_ns)
			ns += now_ns - process->kernel_before_ns;
	}
	return ns;
}

void balancing_settle(const struct balancing *balancing, struct pipeline *pipeline, bool all)
{
	const struct sampling *sampling = balancing->sampling;
	CLEANUP(free_ptr)
	struct balance_count *counts = xcalloc(sampling->event_count, sizeof(*counts));
	uint64_t kernel = intake_facts(balancing->intake)->kernel_excluded ? kernel_ns(balancing)
									   : 0;

	for (unsigned i = 0; i < sampling->event_count; i++) {
		struct balance_count *count = &counts[i];

		count->is_clock = sampling->events[i].kind == VALUE_CPU_TIME;
		count->is_exact = is_exact(balancing, &sampling->events[i]);
		count->is_known = intake_counted(balancing->intake, i, &count->value);
		if (sampling->events[i].scale)
			count->value *= sampling->events[i].scale;
		if (count->is_clock && count->value < balancing->command_ns) {
			count->value = balancing->command_ns;
			count->is_known = true;
		}
		if (count->is_clock)
			count->kernel = kernel;
		count->is_known &= is_comparable(balancing, &sampling->events[i]);
	}
	balance_settle(balancing->balance, counts, all, pipeline->names, pipeline->profile,
		       session_events(pipeline->session));
}

/*
 * CPU time of a command that has ended, and of those descendants that were waited for. False: it is
 * unknown.
 */
static bool read_command_usage(const struct record_config *config, struct rusage *usage)
{
	siginfo_t info = {0};

	/* Else something of it was not recorded. */
	if (!config->command || config->commands_later || !config->inherit || config->cpus)
		return false;
	/* waitid(2) of the C library lacks the last argument. The command stays to be waited for.
	 */
	return syscall(SYS_waitid, P_PID, config->command, &info, WEXITED | WNOHANG | WNOWAIT,
		       usage) == 0 &&
	       info.si_pid == config->command;
}

void balancing_end(struct balancing *balancing, bool was_paused)
{
	struct rusage usage;

	if (was_paused || !read_command_usage(balancing->config, &usage))
		return;
	balancing->command_kernel_ns = clock_ns_of(usage.ru_stime);
	balancing->command_ns = clock_ns_of(usage.ru_utime) + balancing->command_kernel_ns;
}
