/*
 * Scheduling of our own threads. Source: sched_setattr(2), Documentation/scheduler.
 */
#ifndef PROF_BASE_SCHED_ATTRIBUTES_H
#define PROF_BASE_SCHED_ATTRIBUTES_H

/*
 * Asks for short time slices for the calling thread: since Linux 6.12 the scheduler then runs it
 * before threads with longer slices. It needs no privilege, does not raise the thread's share, and
 * is not inherited. Without effect on older kernels and under other policies than SCHED_OTHER.
 */
void sched_request_short_slices(void);

/*
 * Gives the calling thread the CPU share of nine others, if it has the usual one and the privilege
 * (CAP_SYS_NICE): programs that keep all CPUs busy cannot keep it from its rings. Threads and
 * processes that it starts have the usual share.
 */
void sched_raise_priority(void);
void sched_restore_priority(void);

#endif
