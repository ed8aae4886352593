/*
 * Counts an event of one task on all CPUs: one descriptor for each kind of CPU (event_variant).
 * Where the kernel cannot tell kinds of CPU apart by itself, one for each CPU.
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
 * attr has everything but the type and config of a variant; its read_format must begin with the
 * value, so not be PERF_FORMAT_GROUP. pid 0: ourselves. Returns 0 or, if the event cannot be
 * counted on any kind of CPU, an errno. counter_close() is needed in every case.
 */
int counter_open(struct counter *counter, const struct event *event,
		 const struct perf_event_attr *attr, pid_t pid);
void counter_close(struct counter *counter);

/* If the attributes had `disabled` set, and enable_on_exec did not. */
void counter_enable(const struct counter *counter);
void counter_disable(const struct counter *counter);

/* The sum over all CPUs; false if it cannot be read, or nothing is counted. */
bool counter_read(const struct counter *counter, uint64_t *ret);
/* The same of counters that were not on the hardware all the time, with a read_format of
 * PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING: an estimate. False also if one never was. */
bool counter_read_scaled(const struct counter *counter, uint64_t *ret);

#endif
