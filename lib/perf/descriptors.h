/*
 * The descriptors of one recording: for each thread of the target on each CPU a side-band event,
 * one for context switches if those of all threads are recorded, and the sampling events,
 * redirected into the rings of that CPU.
 *
 * Where more descriptors are not allowed, another event of the thread writes the side band as well:
 * that for switches, else the first sampling event. That saves a descriptor of each thread and CPU,
 * but the side band then begins with sampling and shares the rings of that event.
 *
 * An event whose counter some CPUs lack is opened on the others; it is an error if all lack it.
 *
 * They are opened per thread and CPU because the kernel cannot map the ring of an inherited event
 * that is open on all CPUs, and redirects output only within one CPU.
 */
#ifndef PROF_PERF_DESCRIPTORS_H
#define PROF_PERF_DESCRIPTORS_H

#include "base/error.h"
#include "perf/command_counters.h"
#include "perf/late_threads.h"
#include "perf/opened_event.h"
#include "perf/options.h"
#include "perf/ring.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fd_list {
	int *items;
	unsigned *cpus;	  /* of each item: the index of its CPU … */
	unsigned *events; /* … and, of those that sample, the index of its event */
	size_t count, room;
};

struct descriptors {
	const struct event *events; /* borrowed */
	size_t event_count;
	struct opened_event *opened; /* the variants of all events, in order; set by the caller */
	size_t opened_count;
	struct perf_event_attr side_attr, switch_attr;
	bool kernel_excluded;
	bool is_joint; /* there is no side-band event: another event writes it */

	const unsigned *cpus; /* borrowed, as the rings: one of each kind per CPU */
	size_t cpu_count;
	const struct ring *side_rings, *sample_rings;
	/* Context switches are recorded into these rings; NULL: they are not. Sampling is enabled
	 * with them. */
	const struct ring *switch_rings;
	bool needs_switches; /* of every thread; else of a TARGET_COMMAND alone, if possible */
	bool starts_at_exec; /* switches and counters do */
	bool whole_cpus;     /* whatever runs there is sampled, whatever the target is */

	struct fd_list side, samples, switches;
	size_t denied_count; /* threads of found processes that may not be sampled */
	int leader_fd;	     /* of the group that is being opened; -1: none */
	/* Of commands, where more than they are is sampled; else NULL. */
	struct command_counters *counters;
	struct late_threads late_threads;
};

void descriptors_deinit(struct descriptors *descriptors);

/*
 * Opens the target, with sampling disabled. The members above `side` must be set, except
 * kernel_excluded and is_joint. After a failure, too, descriptors_deinit() is needed. ESRCH: no
 * such process.
 */
MUST_CHECK struct error *descriptors_open(struct descriptors *descriptors,
					  const struct target *target);

/* Counts what the kernel counts in a command of target.commands_later. */
void descriptors_count_command(struct descriptors *descriptors, pid_t command, bool starts_at_exec);

/* Opens a process that has begun later, as far as that is possible. */
void descriptors_add_process(struct descriptors *descriptors, pid_t pid, bool is_enabled);

MUST_CHECK struct error *descriptors_enable(const struct descriptors *descriptors);
void descriptors_disable(const struct descriptors *descriptors);
/* Until descriptors_enable(). Switches that are needed are still recorded. */
void descriptors_pause(const struct descriptors *descriptors);
/* Records the switches that are needed, even before descriptors_enable(). */
void descriptors_enable_switches(const struct descriptors *descriptors);

/* Ends the recording of context switches, unless those of every thread are needed. */
void descriptors_end_switches(struct descriptors *descriptors);

/* What the kernel has counted of an event in all threads of the target, those that have ended
 * included. False: unknown: some of it was counted twice (late_threads.h), or the target is the
 * whole system, where a clock counts while a CPU idles, too. */
bool descriptors_counted(const struct descriptors *descriptors, unsigned event, uint64_t *ret);

/* The CPUs that lack the counter of an event, as text ("4-7"); NULL: none. The caller frees it. */
char *descriptors_lacking_cpus(const struct descriptors *descriptors, unsigned event);

/* Number of records that did not fit into the rings so far, of the events that sample or of those
 * for switches; needs attr_features.lost. */
uint64_t descriptors_lost(const struct fd_list *list);

#endif
