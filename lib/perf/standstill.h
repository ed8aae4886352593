/*
 * Proves that a sampled thread has not run since its sample, so that its stack
 * can be read.
 *
 * The caller is a thread that is bound to the CPU of the sample and was woken
 * by it. There are three proofs:
 *
 *  - The caller got the CPU soon after the sample and has kept it, and the
 *    sampled thread is queued on the same CPU. So it did not run elsewhere
 *    either.
 *  - The sample has woken the caller, which did not wait for the CPU then. This
 *    is the stricter proof: the sampled thread has not even returned to user
 *    space. It may also be blocked, because since a wake-up it would be queued.
 *  - The thread was sampled in the kernel and is blocked there, having entered
 *    the kernel at the sample's stack pointer and pc.
 */
#ifndef PROF_PERF_STANDSTILL_H
#define PROF_PERF_STANDSTILL_H

#include "perf/record.h"

#include <stdbool.h>
#include <stdint.h>

/* The part of a sample that is needed after its record was overwritten. */
struct sampled_thread {
	pid_t pid, tid;
	uint64_t time_ns;
	uint64_t sp, pc;
	uint64_t g; /* the g of a Go thread, from a register */
	bool in_kernel;
	uint64_t running_ns; /* as in struct record_sample */
};

struct standstill {
	unsigned cpu;
	/* The calling thread runs before a sampled thread can return to user
	 * space. */
	bool is_real_time;
	/* /proc/PID/task/TID/stat of stat_tid; -1 if closed. */
	int stat_fd;
	pid_t stat_tid;
	int waits_fd;	    /* /proc/thread-self/schedstat, or -1 */
	uint64_t waited_ns; /* how long the calling thread has waited for its CPU */
	uint64_t woken_ns;  /* time when the calling thread got the CPU */
	long switches;	    /* context switches of the calling thread until then */
	uint64_t ended_ns;  /* time of standstill_end() */
	/* The calling thread did not wait for its CPU after it was woken:
	 * because of its priority, or by the kernel's times. */
	bool is_first;
	/* The stricter proof has succeeded: the calling thread has run before
	 * the sampled thread could return to user space. */
	bool ran_first;
};

/* is_real_time: the caller runs before the sampled thread can return to user
 * space. */
void standstill_init(struct standstill *standstill, unsigned cpu, bool is_real_time);
void standstill_deinit(struct standstill *standstill);

/* Must be called when the calling thread has just got the CPU. */
void standstill_begin(struct standstill *standstill);
/* Must be called before the calling thread waits for the next sample. */
void standstill_end(struct standstill *standstill);
/* Returns whether the sample is too old for a proof. */
bool standstill_is_late(const struct standstill *standstill, const struct sampled_thread *thread);
/* Returns whether the thread has not run between its sample and now. */
bool standstill_is_proved(struct standstill *standstill, const struct sampled_thread *thread);
/*
 * Returns whether only the kernel can have worked for the thread between its
 * sample and now. It may have written to the thread's stack: the result of a
 * system call. Must be called after standstill_is_proved().
 */
bool standstill_only_kernel_ran(const struct standstill *standstill,
				const struct sampled_thread *thread);

#endif
