/*
 * The clocks of the program, in nanoseconds.
 *
 * The monotonic clock is the clock of live records: perf events are opened with
 * CLOCK_MONOTONIC, which is the same in all time namespaces. What clock_gettime(2) shows of it is
 * shifted in them (time_namespaces(7)). The real-time clock is for people.
 */
#ifndef PROF_BASE_CLOCK_H
#define PROF_BASE_CLOCK_H

#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#define NS_PER_SECOND UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

/* CLOCK_MONOTONIC of the first time namespace. */
uint64_t clock_now_ns(void);
/* For pthread_cond_timedwait() with CLOCK_MONOTONIC, which is that of prof's own namespace. */
struct timespec clock_wait_end(uint64_t timeout_ns);
/*
 * By how much the clock of a process is ahead, as its time namespace shifts it; 0 if it has ended.
 * Wraps where it is behind. path: "/proc/PID".
 */
uint64_t clock_offset_ns(const char *path);
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
