/*
 * How a target is sampled: by descriptors of its threads, of whole CPUs, or of cgroups; at which
 * rate samples are to be expected; and whether deep stacks can be captured.
 */
#ifndef PROF_PERF_SAMPLING_PLAN_H
#define PROF_PERF_SAMPLING_PLAN_H

#include "base/error.h"
#include "perf/event.h"
#include "perf/options.h"

struct sampling_plan {
	bool is_tree;	      /* whole CPUs are sampled, and the target's process tree is kept */
	bool samples_cgroups; /* those of target.rule, on all CPUs */
	bool whole_cpus;      /* one of both, or TARGET_SYSTEM */
	bool follows_rule;    /* the kernel's records tell of each process that target.rule means */

	bool has_probes;
	bool may_filter;	  /* the kernel may drop samples of processes outside the tree */
	bool has_scheduler_event; /* the switch to a copier would be one */
	bool can_capture;	  /* deep stacks, if there are rings for it */
	int capture_poll_ms;	  /* … the rings are then read this often */
	int program_poll_ms;	  /* the same if the kernel copies them (stack_program.h) */

	uint64_t samples_per_second, bytes_per_second; /* on one CPU; 0: unknown */
	uint64_t interval_ns; /* between the samples of a busy CPU; 0: unknown, or not of CPUs */
};

/*
 * cpu: one that is sampled, on which it is tried whether CPUs and cgroups may be. Fails if each
 * event is to be sampled in a cgroup of its own and cgroups cannot be sampled.
 */
MUST_CHECK struct error *sampling_plan_choose(const struct event *events, size_t event_count,
					      const struct target *target,
					      const struct sampler_options *options, unsigned cpu,
					      struct sampling_plan *ret);

#endif
