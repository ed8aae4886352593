/*
 * Drops duplicate samples and context switches of threads that were created
 * while prof was attaching.
 *
 * If the first listing of /proc/PID/task does not show a thread, the thread may
 * have inherited prof's events from its parent on all CPUs, on some, or on
 * none. This cannot be determined, so prof opens events for it as well and
 * calls it a "late" thread. Only samples and switches that come through these
 * events count, for the late thread and for its descendants. The id of a record
 * identifies the event, because an inherited event keeps the id of the event
 * that prof opened.
 *
 * Descendants are known from FORK records. The nearest late ancestor decides
 * for them. Its events are complete: all were open before the fork (otherwise a
 * later listing would have shown the child), and they were opened last among
 * those that the child may have inherited.
 *
 * Without late threads, the usual case, the module stores nothing and looks up
 * nothing.
 */
#ifndef PROF_PERF_LATE_THREADS_H
#define PROF_PERF_LATE_THREADS_H

#include "base/idmap.h"
#include "perf/record.h"

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: no late threads. */
struct late_threads {
	/* Maps the id of an event to the number of its late thread. */
	struct idmap descriptors;
	/* Maps a thread to the number of its nearest late ancestor. */
	struct idmap threads;
	uint32_t late_count;
};

void late_threads_deinit(struct late_threads *late_threads);

/* Adds a late thread and returns its number. */
uint32_t late_threads_add(struct late_threads *late_threads, pid_t tid);
/* Adds the id of an event that was opened for the late thread. */
void late_threads_add_descriptor(struct late_threads *late_threads, uint32_t late, uint64_t id);

/* Returns whether the record counts. Must be called for every record, in time
 * order. */
bool late_threads_counts(struct late_threads *late_threads, const struct record *record,
			 uint64_t id);

#endif
