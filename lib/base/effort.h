/*
 * Measures how long the calling thread works for a process that may make it take long: its CPU
 * time, or the elapsed time if the thread had to sleep. The time in which it waits for a CPU is not
 * the process's fault.
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
/* The work since then, by the same thread. */
uint64_t effort_ns(const struct effort *before);

#endif
