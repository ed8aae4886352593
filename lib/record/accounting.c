#include "record/accounting.h"

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

static void accounting_add_children(struct accounting *accounting)
{
	const struct record_config *config = accounting->config;
	CLEANUP(free_ptr) pid_t *children = NULL;
	size_t count;

	descendants_list(config->target.pids, config->target.pid_count, &children, &count);
	for (size_t i = 0; i < count; i++)
		accounting_add_process(accounting, children[i]);
}

static void accounting_add_targets(struct accounting *accounting)
{
	const struct record_config *config = accounting->config;

	for (size_t i = 0; i < config->target.pid_count; i++)
		accounting_add_process(accounting, process_of_thread(config->target.pids[i]));
	for (size_t i = 0; i < config->target.tid_count; i++)
		unsampled_add_thread(accounting->unsampled,
				     process_of_thread(config->target.tids[i]),
				     config->target.tids[i]);
	if (config->target.with_children)
		accounting_add_children(accounting);
}

void accounting_open(struct accounting *accounting, const struct record_config *config,
		     const struct sampling *sampling, const struct recording_source *source)
{
	const struct sampler_facts *facts = recording_source_facts(source);
	size_t processes = config->target.pid_count + config->target.tid_count;

	*accounting = (struct accounting){.config = config, .sampling = sampling, .source = source};
	accounting->unsampled = unsampled_new(&(struct unsampled_options){
		.event_count = (unsigned)sampling->event_count,
		.cpu_count = facts->cpus,
		.has_switches = facts->has_switches,
		.with_children = config->target.inherit,
		.proc = "/proc",
		/* Sampling whole CPUs misses nothing. A difference is only
		 * sampling error. */
		.adds_missing = !facts->is_tree && !facts->follows_rule &&
				!config->target.thread_name_count &&
				(config->target.command || processes),
		.main_pid = config->target.commands_later	     ? 0
			    : config->target.command		     ? config->target.command
			    : processes > 1 || config->target.choice ? 0
			    : config->target.pid_count		     ? config->target.pids[0]
			    : config->target.tid_count ? process_of_thread(config->target.tids[0])
						       : 0,
	});
	if (unsampled_reads_threads(accounting->unsampled))
		accounting_add_targets(accounting);
}

void accounting_add_process(struct accounting *accounting, pid_t pid)
{
	CLEANUP(thread_list_deinit) struct thread_list threads = {0};

	if (!unsampled_reads_threads(accounting->unsampled))
		return;
	/* The process may have exited already. */
	error_free(thread_list_add_process(&threads, pid));
	for (size_t i = 0; i < threads.count; i++)
		unsampled_add_thread(accounting->unsampled, pid, threads.items[i]);
	GROW(accounting->processes, accounting->process_count, accounting->process_room);
	accounting->processes[accounting->process_count++] =
		(struct accounted_process){pid, usage_in_kernel_ns("/proc", pid)};
}

void accounting_close(struct accounting *accounting)
{
	unsampled_free(accounting->unsampled);
	free(accounting->processes);
	*accounting = (struct accounting){0};
}

/*
 * The kernel's count and the samples are not comparable in these cases:
 *  - a clock that excludes user or kernel mode, because its counter includes
 *    both;
 *  - a tracepoint or probe whose weight is a field or an argument;
 *  - a filtered event of later commands, because their count is not filtered;
 *  - an event that is only counted with the samples of its group.
 */
static bool is_comparable(const struct accounting *accounting, const struct event *event)
{
	if ((event->reader && field_reader_has_weight(event->reader)) ||
	    event->weight_argument.register_bit || event->role == EVENT_COUNTED ||
	    (event->filter && accounting->config->target.commands_later))
		return false;
	return event->kind != VALUE_CPU_TIME || (!event->exclude_user && !event->exclude_kernel);
}

/*
 * A clock on whole CPUs hits threads at random. For other events with a
 * frequency, the kernel estimates the periods. Hardware counters are not exact
 * because they may have been multiplexed.
 */
static bool is_exact(const struct accounting *accounting, const struct event *event)
{
	if (event->kind == VALUE_CPU_TIME)
		return recording_source_facts(accounting->source)->is_tree;
	return event_is_software(event) && event->frequency_hz;
}

/* Returns the target's CPU time in the kernel so far, as far as it is known. */
static uint64_t kernel_ns(const struct accounting *accounting)
{
	const pid_t command = accounting->config->target.command;
	uint64_t ns = accounting->command_kernel_ns;

	if (!ns && command)
		ns = usage_in_kernel_ns("/proc", command);
	for (size_t i = 0; i < accounting->process_count; i++) {
		const struct accounted_process *process = &accounting->processes[i];
		uint64_t now_ns = usage_in_kernel_ns("/proc", process->pid);

		if (now_ns > process->kernel_before_ns)
			ns += now_ns - process->kernel_before_ns;
	}
	return ns;
}

void accounting_settle(const struct accounting *accounting, struct pipeline *pipeline, bool all)
{
	const struct sampling *sampling = accounting->sampling;
	CLEANUP(free_ptr)
	struct unsampled_count *counts = xcalloc(sampling->event_count, sizeof(*counts));
	uint64_t kernel = recording_source_facts(accounting->source)->kernel_excluded
				  ? kernel_ns(accounting)
				  : 0;

	for (unsigned i = 0; i < sampling->event_count; i++) {
		struct unsampled_count *count = &counts[i];

		count->is_clock = sampling->events[i].kind == VALUE_CPU_TIME;
		count->is_exact = is_exact(accounting, &sampling->events[i]);
		count->is_known = recording_source_counted(accounting->source, i, &count->value);
		if (sampling->events[i].scale)
			count->value *= sampling->events[i].scale;
		if (count->is_clock && count->value < accounting->command_ns) {
			count->value = accounting->command_ns;
			count->is_known = true;
		}
		if (count->is_clock)
			count->kernel = kernel;
		count->is_known &= is_comparable(accounting, &sampling->events[i]);
	}
	unsampled_settle(accounting->unsampled, counts, all, pipeline->names, pipeline->profile,
			 session_events(pipeline->session));
}

/* Reads the CPU time of a command that has ended, and of the descendants that
 * were waited for. Returns false if it is unknown. */
static bool read_command_usage(const struct record_config *config, struct rusage *usage)
{
	siginfo_t info = {0};

	/* Otherwise a part of the command was not recorded. */
	if (!config->target.command || config->target.commands_later || !config->target.inherit ||
	    config->target.cpus)
		return false;
	/* The C library's waitid() lacks the rusage argument of the system
	 * call. WNOWAIT leaves the command to be waited for later. */
	return syscall(SYS_waitid, P_PID, config->target.command, &info,
		       WEXITED | WNOHANG | WNOWAIT, usage) == 0 &&
	       info.si_pid == config->target.command;
}

void accounting_end(struct accounting *accounting, bool was_paused)
{
	struct rusage usage;

	if (was_paused || !read_command_usage(accounting->config, &usage))
		return;
	accounting->command_kernel_ns = clock_ns_of(usage.ru_stime);
	accounting->command_ns = clock_ns_of(usage.ru_utime) + accounting->command_kernel_ns;
}
