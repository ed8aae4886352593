/*
 * The clocks of the program, in nanoseconds.
 *
 * The monotonic clock is the clock of live records: perf events are opened with
 * CLOCK_MONOTONIC. The real-time clock is for people.
 */
#ifndef PROF_BASE_CLOCK_H
#define PROF_BASE_CLOCK_H

#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#define NS_PER_SECOND UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

/* CLOCK_MONOTONIC. */
uint64_t clock_now_ns(void);
/* CLOCK_REALTIME: nanoseconds since 1970. */
uint64_t clock_unix_ns(void);
/* Any clock, such as the CPU clock of another process; 0 if it does not exist (any more). */
uint64_t clock_read_ns(clockid_t clock);
uint64_t clock_ns_of(struct timeval time);
/* CPU time that this process has used so far, in user space and in the kernel. */
uint64_t clock_own_cpu_ns(void);
/* The same of the calling thread alone. */
uint64_t clock_thread_cpu_ns(void);

#endif
