/*
 * Decides how a target is sampled: by descriptors of its threads, of whole
 * CPUs, or of cgroups. Estimates the sample rate, and decides whether deep
 * stacks can be captured.
 */
#ifndef PROF_PERF_SAMPLING_PLAN_H
#define PROF_PERF_SAMPLING_PLAN_H

#include "base/error.h"
#include "perf/event.h"
#include "perf/options.h"

struct sampling_plan {
	/* Whole CPUs are sampled, and only the target's process tree is
	 * kept. */
	bool is_tree;
	/* The cgroups of target.rule are sampled on all CPUs. */
	bool samples_cgroups;
	/* is_tree or samples_cgroups is set, or the target is TARGET_SYSTEM. */
	bool whole_cpus;
	/* The kernel's records cover every process to which target.rule
	 * applies. */
	bool follows_rule;

	bool has_probes;
	/* The kernel may drop samples of processes outside the tree. */
	bool may_filter;
	bool has_scheduler_event; /* an event would count the switch to a copier */
	/* Deep stacks can be captured, if there are rings for it. */
	bool can_capture;
	/* Poll interval of the rings while copiers capture stacks. */
	int capture_poll_ms;
	/* Poll interval of the rings if the kernel copies stacks
	 * (stack_program.h). */
	int program_poll_ms;

	/* Expected rates on one CPU; 0 if unknown. */
	uint64_t samples_per_second, bytes_per_second;
	/* Time between the samples of a busy CPU; 0 if unknown or not a
	 * clock. */
	uint64_t interval_ns;
};

/*
 * cpu is a sampled CPU, on which the function tests whether CPUs and cgroups
 * may be sampled. Fails if each event has its own cgroup and cgroups cannot be
 * sampled.
 */
MUST_CHECK struct error *sampling_plan_choose(const struct event *events, size_t event_count,
					      const struct target *target,
					      const struct sampler_options *options, unsigned cpu,
					      struct sampling_plan *ret);

#endif
