#include "record/balancing.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "perf/field_reader.h"
#include "record/targets.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

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
}

void balancing_close(struct balancing *balancing)
{
	balance_free(balancing->balance);
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

void balancing_settle(const struct balancing *balancing, struct pipeline *pipeline, bool all)
{
	const struct sampling *sampling = balancing->sampling;
	CLEANUP(free_ptr)
	struct balance_count *counts = xcalloc(sampling->event_count, sizeof(*counts));

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
		count->is_known &= is_comparable(balancing, &sampling->events[i]);
	}
	balance_settle(balancing->balance, counts, all, pipeline->names, pipeline->profile,
		       session_events(pipeline->session));
}

/* CPU time of a command that has ended, and of those descendants that were waited for. */
static uint64_t command_ns(const struct record_config *config)
{
	struct rusage usage;
	siginfo_t info = {0};

	/* Else something of it was not recorded. */
	if (!config->command || config->commands_later || !config->inherit || config->cpus)
		return 0;
	/* waitid(2) of the C library lacks the last argument. The command stays to be waited for.
	 */
	if (syscall(SYS_waitid, P_PID, config->command, &info, WEXITED | WNOHANG | WNOWAIT,
		    &usage) < 0 ||
	    info.si_pid != config->command)
		return 0;
	return clock_ns_of(usage.ru_utime) + clock_ns_of(usage.ru_stime);
}

void balancing_end(struct balancing *balancing, bool was_paused)
{
	balancing->command_ns = was_paused ? 0 : command_ns(balancing->config);
}
