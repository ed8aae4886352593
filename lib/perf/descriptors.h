/*
 * Opens and controls the perf event descriptors of one recording.
 *
 * For each thread of the target there are, on each CPU, a side-band event, an
 * event for context switches if those of all threads are recorded, and the
 * sampling events. All are redirected into the rings of that CPU.
 *
 * If RLIMIT_NOFILE does not allow that many descriptors, another event of the
 * thread also writes the side band: the one for context switches, or else the
 * first sampling event. The side band then starts only when sampling starts,
 * and shares the rings of that event.
 *
 * If some CPUs lack the counter of an event, it is opened on the others. It is
 * an error if all CPUs lack it.
 *
 * Events are opened per thread and CPU, because the kernel cannot map the ring
 * of an inherited event that is open on all CPUs, and redirects output only
 * within one CPU.
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
	unsigned *cpus; /* index of each item's CPU */
	/* Index of each item's event; only for sampling descriptors. */
	unsigned *events;
	size_t count, room;
};

struct descriptors {
	const struct event *events; /* borrowed */
	size_t event_count;
	/* The variants of all events, in order; set by the caller. */
	struct opened_event *opened;
	size_t opened_count;
	struct perf_event_attr side_attr, switch_attr;
	bool kernel_excluded;
	/* Another event writes the side band, which has no event of its own. */
	bool is_joint;

	/* Borrowed, like the rings. Each kind of ring has one per CPU. */
	const unsigned *cpus;
	size_t cpu_count;
	const struct ring *side_rings, *sample_rings;
	/* Rings for context switches, which are enabled together with sampling.
	 * NULL if switches are not recorded. */
	const struct ring *switch_rings;
	/* Record the switches of every thread; otherwise those of a
	 * TARGET_COMMAND alone, if possible. */
	bool needs_switches;
	bool starts_at_exec; /* switches and counters start at the exec */
	/* Everything that runs on the CPUs is sampled, whatever the target
	 * is. */
	bool whole_cpus;

	struct fd_list side, samples, switches;
	/* Threads of found processes that may not be sampled. */
	size_t denied_count;
	int leader_fd; /* leader of the group that is being opened, or -1 */
	/* Counts commands when more than the commands is sampled; otherwise
	 * NULL. */
	struct command_counters *counters;
	struct late_threads late_threads;
};

void descriptors_deinit(struct descriptors *descriptors);

/*
 * Opens the target with sampling disabled. The caller sets the members above
 * `side`, except kernel_excluded and is_joint. descriptors_deinit() is required
 * after a failure, too. The error number is ESRCH if the process does not
 * exist.
 */
MUST_CHECK struct error *descriptors_open(struct descriptors *descriptors,
					  const struct target *target);

/* Starts counting the events in a command of target.commands_later. */
void descriptors_count_command(struct descriptors *descriptors, pid_t command, bool starts_at_exec);

/* Opens a process that started later, as far as that is possible. */
void descriptors_add_process(struct descriptors *descriptors, pid_t pid, bool is_enabled);

MUST_CHECK struct error *descriptors_enable(const struct descriptors *descriptors);
void descriptors_disable(const struct descriptors *descriptors);
/* Pauses sampling until descriptors_enable(). The needed switches are still
 * recorded. */
void descriptors_pause(const struct descriptors *descriptors);
/* Starts recording the needed switches, even before descriptors_enable(). */
void descriptors_enable_switches(const struct descriptors *descriptors);

/* Stops recording context switches, unless those of every thread are needed. */
void descriptors_end_switches(struct descriptors *descriptors);

/* Returns the kernel's count of an event, summed over the threads of the
 * target, including those that have exited. Returns false if it is unknown:
 * some of it was counted twice (late_threads.h), or the target is the whole
 * system, where clocks also count while a CPU is idle. */
bool descriptors_counted(const struct descriptors *descriptors, unsigned event, uint64_t *ret);

/* Returns the CPUs that lack the counter of an event, as text ("4-7"), or NULL
 * if none does. The caller frees it. */
char *descriptors_lacking_cpus(const struct descriptors *descriptors, unsigned event);

/* Returns the number of records that did not fit into the rings so far. `list`
 * is the list of sampling events or of switch events. Requires
 * attr_features.lost. */
uint64_t descriptors_lost(const struct fd_list *list);

#endif
