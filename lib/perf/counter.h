/*
 * Counts an event of one task on all CPUs, with one descriptor for each kind of
 * CPU (event_variant), or one for each CPU if the kernel cannot tell kinds of
 * CPU apart.
 */
#ifndef PROF_PERF_COUNTER_H
#define PROF_PERF_COUNTER_H

#include "perf/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Zeroed: counts nothing. */
struct counter {
	int *fds;
	size_t count, room;
};

/*
 * Returns 0, or an errno if no kind of CPU can count the event. counter_close()
 * is required in both cases.
 *
 * attr holds everything but the type and config of a variant. Its read_format
 * must start with the value, so it must not include PERF_FORMAT_GROUP. pid 0 is
 * prof itself.
 */
int counter_open(struct counter *counter, const struct event *event,
		 const struct perf_event_attr *attr, pid_t pid);
void counter_close(struct counter *counter);

/* Enables the counter. Only needed if attr.disabled was set and enable_on_exec
 * was not. */
void counter_enable(const struct counter *counter);
void counter_disable(const struct counter *counter);

/* Returns the sum over all CPUs in *ret. Returns false if it cannot be read or
 * nothing is counted. */
bool counter_read(const struct counter *counter, uint64_t *ret);
/* Like counter_read(), but scales the value of counters that were multiplexed.
 * The read_format must be PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING. Returns
 * false as well if a counter never ran. */
bool counter_read_scaled(const struct counter *counter, uint64_t *ret);

#endif
