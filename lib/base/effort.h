/*
 * Measures how long the calling thread works for a process that may make it
 * take long. The result is the thread's CPU time, or the elapsed time if the
 * thread had to sleep. Time in which the thread was runnable does not count,
 * because the process did not cause it.
 *
 *	struct effort before = effort_start();
 *	read_maps(pid);
 *	time_share_spend(&share, effort_ns(&before));
 */
#ifndef PROF_BASE_EFFORT_H
#define PROF_BASE_EFFORT_H

#include <stdint.h>

struct effort {
	uint64_t time_ns, cpu_ns;
	long sleeps;
};

struct effort effort_start(void);
/* Returns the work of this thread since then. */
uint64_t effort_ns(const struct effort *before);

#endif
