/*
 * Drops duplicate samples and context switches of threads that were created while we were
 * attaching.
 *
 * A thread that the first listing of /proc/PID/task did not show may have inherited our events from
 * its parent on all CPUs, on some, or on none. We cannot know, so we open it as well: a "late"
 * thread. Of its samples and switches, and of those of its descendants, only those count that come
 * through the descriptors opened for it. The id of a record shows which: an inherited event keeps
 * the id of the event that we opened.
 *
 * Descendants are known from FORK records. For a descendant the nearest late ancestor decides: all
 * its descriptors were open before the fork (else a later listing would have shown the child), and
 * they were opened last among those that the child may have inherited, so they are complete.
 *
 * Without late threads, the usual case, nothing is kept and nothing is looked up.
 */
#ifndef PROF_PERF_LATE_THREADS_H
#define PROF_PERF_LATE_THREADS_H

#include "base/idmap.h"
#include "perf/record.h"

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: no late threads. */
struct late_threads {
	struct idmap descriptors; /* id of an event → the late thread's number it was opened for */
	struct idmap threads; /* thread → the number of the late thread that it descends from */
	uint32_t late_count;
};

void late_threads_deinit(struct late_threads *late_threads);

/* Adds a late thread and returns its number. */
uint32_t late_threads_add(struct late_threads *late_threads, pid_t tid);
/* Adds the id of a descriptor that was opened for it. */
void late_threads_add_descriptor(struct late_threads *late_threads, uint32_t late, uint64_t id);

/* Whether the record counts. It must be called for every record, in time order. */
bool late_threads_counts(struct late_threads *late_threads, const struct record *record,
			 uint64_t id);

#endif
