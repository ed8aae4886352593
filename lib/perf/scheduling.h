/*
 * How soon a thread of ours gets a CPU. Source: sched_setattr(2), Documentation/scheduler.
 */
#ifndef PROF_PERF_SCHEDULING_H
#define PROF_PERF_SCHEDULING_H

/*
 * The calling thread works for a moment at a time: since Linux 6.12 the scheduler then lets it go
 * before those that want a CPU for longer. Takes no privilege, gives it no larger share, and is not
 * handed down to what it starts. Elsewhere, and for other policies than the usual one, nothing
 * changes.
 */
void scheduling_ask_for_short_slices(void);

#endif
