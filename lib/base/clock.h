/*
 * The clocks of the program, in nanoseconds.
 *
 * Live records use the monotonic clock: perf events are opened with
 * CLOCK_MONOTONIC, which is the same in all time namespaces. clock_gettime(2)
 * shifts it in a time namespace (time_namespaces(7)). The real-time clock is
 * only for display.
 */
#ifndef PROF_BASE_CLOCK_H
#define PROF_BASE_CLOCK_H

#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#define NS_PER_SECOND UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

/* Returns CLOCK_MONOTONIC of the initial time namespace. */
uint64_t clock_now_ns(void);
/*
 * Returns the deadline for pthread_cond_timedwait() with CLOCK_MONOTONIC, which
 * uses the clock of prof's own namespace.
 */
struct timespec clock_wait_end(uint64_t timeout_ns);
/*
 * Returns how far the clock of a process is ahead in its time namespace, or 0
 * if the process has ended. The result wraps if the clock is behind. path:
 * "/proc/PID".
 */
uint64_t clock_offset_ns(const char *path);
/* Returns CLOCK_REALTIME: nanoseconds since 1970. */
uint64_t clock_unix_ns(void);
/*
 * Reads any clock, such as the CPU clock of another process. Returns 0 if it
 * does not exist (any more).
 */
uint64_t clock_read_ns(clockid_t clock);
uint64_t clock_ns_of(struct timeval time);
/*
 * Returns the CPU time that this process has used so far, in user space and in
 * the kernel.
 */
uint64_t clock_own_cpu_ns(void);
/* Returns the CPU time of the calling thread. */
uint64_t clock_thread_cpu_ns(void);

#endif
