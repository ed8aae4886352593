/*
 * Chooses the event to sample when the user names none.
 */
#ifndef PROF_PERF_DEFAULT_EVENT_H
#define PROF_PERF_DEFAULT_EVENT_H

#include "perf/event.h"

/*
 * Returns `cycles` if this machine has a working hardware counter, which is
 * tested by counting on this process. Otherwise returns `cpu-clock`. *reason
 * becomes NULL for `cycles`, otherwise a static clause ("no hardware counter:
 * …").
 */
void event_default(const struct pmus *pmus, struct event *ret, const char **reason);

/* Returns the reason why `cycles` is not used. cycles_counted is the total of
 * the counters on all kinds of CPU while prof was running, or a negative errno
 * if none could be opened. */
const char *event_why_not_cycles(int64_t cycles_counted);

#endif
