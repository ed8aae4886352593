/*
 * Scheduling of prof's own threads. Source: sched_setattr(2),
 * Documentation/scheduler.
 */
#ifndef PROF_BASE_SCHED_ATTRIBUTES_H
#define PROF_BASE_SCHED_ATTRIBUTES_H

/*
 * Requests short time slices for the calling thread. Since Linux 6.12 the
 * scheduler runs it before threads with longer slices. It needs no privilege,
 * does not change the thread's CPU share, and is not inherited. It has no
 * effect on older kernels and under policies other than SCHED_OTHER.
 */
void sched_request_short_slices(void);

/*
 * Gives the calling thread the CPU share of nine others, if it has the default
 * share and the privilege (CAP_SYS_NICE). Programs that keep all CPUs busy then
 * cannot delay the reading of ring buffers. Threads and processes that it
 * starts have the default share.
 */
void sched_raise_priority(void);
void sched_restore_priority(void);

#endif
