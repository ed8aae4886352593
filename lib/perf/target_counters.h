/*
 * Counts events of a whole target without sampling them, as perf stat does: of a command and its
 * descendants, of processes or threads and what they start, or of everything on the CPUs.
 *
 * An event that cannot be counted is unknown. Where the kernel may not be counted, user space alone
 * is; what happens in the kernel only (context switches) is unknown then. Of counters that had to
 * share the hardware the kernel's times give an estimate.
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

/* names: events as event_parse() takes them. They count from target_counters_enable() on or, if
 * starts_at_exec is set, from the exec of a TARGET_COMMAND on. */
struct target_counters *target_counters_open(const struct target *target, const struct pmus *pmus,
					     const char *const *names, size_t count,
					     bool starts_at_exec);
void target_counters_free(struct target_counters *counters);
DEFINE_CLEANUP(target_counters, target_counters_free)

void target_counters_enable(const struct target_counters *counters);
void target_counters_disable(const struct target_counters *counters);

/* False: unknown. */
bool target_counters_read(const struct target_counters *counters, size_t index, uint64_t *ret);

#endif
