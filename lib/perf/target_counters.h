/*
 * Counts events of a whole target without sampling, as perf stat does: for a
 * command and its descendants, for processes or threads and what they start, or
 * for everything on the CPUs.
 *
 * If an event cannot be counted, its count is unknown. If the kernel may not be
 * counted, only user space is; counts of kernel-only events (context switches)
 * are unknown then. Counts of multiplexed counters are scaled.
 */
#ifndef PROF_PERF_TARGET_COUNTERS_H
#define PROF_PERF_TARGET_COUNTERS_H

#include "base/cleanup.h"
#include "perf/options.h"
#include "perf/pmu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct target_counters;

/* Opens the events, whose names are those of event_parse(). They count from
 * target_counters_enable() on or, if starts_at_exec is set, from the exec of a
 * TARGET_COMMAND on. */
struct target_counters *target_counters_open(const struct target *target, const struct pmus *pmus,
					     const char *const *names, size_t count,
					     bool starts_at_exec);
void target_counters_free(struct target_counters *counters);
DEFINE_CLEANUP(target_counters, target_counters_free)

void target_counters_enable(const struct target_counters *counters);
void target_counters_disable(const struct target_counters *counters);

/* Returns false if the count is unknown. */
bool target_counters_read(const struct target_counters *counters, size_t index, uint64_t *ret);

#endif
