/*
 * Whether a sampled thread has stood still since its sample, so that its stack can be read.
 *
 * Used by a thread that is bound to the CPU of the sample and was woken by it. It is proved that
 * the sampled thread has not run, in one of two ways:
 *
 *  - the calling thread got the CPU soon after the sample and has kept it, and the sampled thread
 *    is ready to run in the queue of the same CPU, so it did not run elsewhere either;
 *  - the thread was sampled in the kernel and waits there, having entered it at the sample's stack
 *    pointer and pc.
 */
#ifndef PROF_PERF_STANDSTILL_H
#define PROF_PERF_STANDSTILL_H

#include "perf/record.h"

#include <stdbool.h>
#include <stdint.h>

/* What is to be known of a sample after its record has been overwritten. */
struct sampled_thread {
	pid_t pid, tid;
	uint64_t time_ns;
	uint64_t sp, pc;
	uint64_t g; /* of Go, in a register */
	bool in_kernel;
};

struct standstill {
	unsigned cpu;
	uint64_t late_ns, waiting_late_ns; /* later than this after the sample nothing is proved */
	int stat_fd;			   /* /proc/PID/task/TID/stat of stat_tid; -1: closed */
	pid_t stat_tid;
	uint64_t woken_ns; /* when the calling thread got the CPU */
	long switches;	   /* context switches of the calling thread until then */
};

/* is_real_time: the calling thread runs before the sampled one can return to user space. */
void standstill_init(struct standstill *standstill, unsigned cpu, bool is_real_time);
void standstill_deinit(struct standstill *standstill);

/* The calling thread has just got the CPU. */
void standstill_begin(struct standstill *standstill);
/* Whether it is too late to prove anything about the sample. */
bool standstill_is_late(const struct standstill *standstill, const struct sampled_thread *thread);
/* Whether the thread has not run between its sample and now. */
bool standstill_is_proved(struct standstill *standstill, const struct sampled_thread *thread);

#endif
