/*
 * Counting each thread once, although two inherited events may be sampling it.
 *
 * While we attach to a process it goes on starting threads. A thread that the first listing of
 * /proc/PID/task did not show may have inherited our events from its parent, on all CPUs, on some
 * or on none: nothing tells. So it is opened too, as a "late" thread, which gives it all CPUs; and
 * of what it or its descendants then write, only what comes through its own descriptors counts.
 * That is known by the record's id: an inherited event has the id of the one we opened.
 *
 * Descendants are learnt from FORK records. The nearest late ancestor was opened whole before its
 * child was forked (or else a later listing would have shown the child), and it was opened last of
 * all that the child may have inherited, so it alone is always complete.
 *
 * Without late threads, by far the most common case, nothing is kept and nothing is looked up.
 */
#ifndef PROF_PERF_COVERAGE_H
#define PROF_PERF_COVERAGE_H

#include "base/idmap.h"
#include "perf/record.h"

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: no late threads. */
struct coverage {
	struct idmap descriptors; /* id of an event → the late thread's number it was opened for */
	struct idmap threads; /* thread → the number of the late thread that it descends from */
	uint32_t late_count;
};

void coverage_deinit(struct coverage *coverage);

/* A late thread; returns its number. */
uint32_t coverage_add(struct coverage *coverage, pid_t tid);
/* One of the descriptors that were opened on it. */
void coverage_add_descriptor(struct coverage *coverage, uint32_t late, uint64_t id);

/* Whether the record counts. To be asked for every record, in order of time. */
bool coverage_counts(struct coverage *coverage, const struct record *record, uint64_t id);

#endif
