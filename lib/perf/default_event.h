/*
 * The event to sample when the user names none.
 */
#ifndef PROF_PERF_DEFAULT_EVENT_H
#define PROF_PERF_DEFAULT_EVENT_H

#include "perf/event.h"

/*
 * `cycles` if this machine has a counter that counts (it is opened on this process and tried), else
 * `cpu-clock`, with `*reason` set to a static clause that says why ("no hardware counter: …"); NULL
 * for cycles.
 */
void event_default(const struct pmus *pmus, struct event *ret, const char **reason);

/* The reason. cycles_counted: what the counters of all kinds of CPU have counted while we were
 * running, or a negative errno if none could be opened. */
const char *event_why_not_cycles(int64_t cycles_counted);

#endif
