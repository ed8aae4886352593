#include "base/clock.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>

uint64_t clock_read_ns(clockid_t clock)
{
	struct timespec now = {0};

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/*
 * The file is that of the namespace for children, which a process enters with
 * execve().
 */
uint64_t clock_offset_ns(const char *path)
{
	char name[64];
	CLEANUP(close_file) FILE *file = NULL;
	int64_t seconds, ns;

	snprintf(name, sizeof(name), "%s/timens_offsets", path);
	file = fopen(name, "re");
	if (!file || fscanf(file, "monotonic %" SCNd64 " %" SCNd64, &seconds, &ns) != 2)
		return 0;
	return (uint64_t)seconds * NS_PER_SECOND + (uint64_t)ns;
}

static uint64_t own_offset_ns(void)
{
	static atomic_bool is_known;
	static _Atomic uint64_t offset_ns;

	if (!atomic_load_explicit(&is_known, memory_order_acquire)) {
		atomic_store(&offset_ns, clock_offset_ns("/proc/self"));
		atomic_store_explicit(&is_known, true, memory_order_release);
	}
	return atomic_load_explicit(&offset_ns, memory_order_relaxed);
}

uint64_t clock_now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC) - own_offset_ns();
}

struct timespec clock_wait_end(uint64_t timeout_ns)
{
	uint64_t end_ns = clock_read_ns(CLOCK_MONOTONIC) + timeout_ns;

	return (struct timespec){.tv_sec = (time_t)(end_ns / NS_PER_SECOND),
				 .tv_nsec = (long)(end_ns % NS_PER_SECOND)};
}

uint64_t clock_unix_ns(void)
{
	return clock_read_ns(CLOCK_REALTIME);
}

uint64_t clock_thread_cpu_ns(void)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t clock_ns_of(struct timeval time)
{
	return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_usec * 1000;
}

uint64_t clock_own_cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return clock_ns_of(usage.ru_utime) + clock_ns_of(usage.ru_stime);
}
