/*
 * What the calling thread does for a process that may make it take long: the CPU time, or all of
 * the time if the thread had to sleep. The time in which it waits for a CPU is not the process's
 * fault.
 *
 *	struct effort begin = effort_begin();
 *	…
 *	time_share_spend(&share, effort_ns(&begin));
 */
#ifndef PROF_BASE_EFFORT_H
#define PROF_BASE_EFFORT_H

#include <stdint.h>

struct effort {
	uint64_t time_ns, cpu_ns;
	long sleeps;
};

struct effort effort_begin(void);
/* Since then, by the same thread. */
uint64_t effort_ns(const struct effort *begin);

#endif
