/*
 * The output of thread_times.h: parts of the time that threads spend without a
 * CPU, and totals.
 */
#ifndef PROF_WAITING_WAIT_PART_H
#define PROF_WAITING_WAIT_PART_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The caller's id for a stack at which a thread waited or ran. */
typedef uint32_t wait_place;

#define PLACE_UNKNOWN UINT32_MAX

enum wait_kind {
	WAIT_PROVED,	/* a thread snapshot observed the wait */
	WAIT_SAMPLED,	/* a sample was taken when the wait started */
	WAIT_SPREAD,	/* time of unobserved waits, attributed to an observed one */
	WAIT_PLACELESS, /* the stack is unknown */
	WAIT_RUNNABLE,
};

/* A part of the time that one thread spent without a CPU. */
struct wait_part {
	enum wait_kind kind;
	pid_t pid, tid; /* tid is -1 if the part sums up several ended threads of the process */
	/*
	 * For WAIT_RUNNABLE: where the thread waited before, or ran if
	 * was_running is set.
	 */
	wait_place place;
	bool was_running; /* the thread was preempted or has just started */
	bool is_woken;	  /* `waker` is known. Unused for WAIT_RUNNABLE. */
	wait_place waker;
	uint64_t start_ns, end_ns;
	uint64_t weight_ns; /* at most end_ns - start_ns, except for several threads */
	/*
	 * The number of waits. Each part of a wait in progress counts as one. A
	 * run delay at the end of a wait counts as 0, because the wait itself
	 * is another part.
	 */
	uint64_t count;
	bool has_not_run; /* the thread has not run yet */
	/*
	 * This wait is still in progress and covers nearly the whole life of
	 * the thread.
	 */
	bool is_idle;
};

/* Totals over all threads. */
struct thread_times_sums {
	uint64_t threads;
	uint64_t lives_ns;
	uint64_t running_ns;
	uint64_t left_out_ns; /* waits shorter than least_ns */
};

/* Receives the parts. */
struct wait_sink {
	void (*add)(void *user, const struct wait_part *part);
	void *user;
};

/* Passes a part of this thread to the sink, unless its weight is 0. */
static inline void wait_sink_give(const struct wait_sink *sink, pid_t pid, pid_t tid,
				  struct wait_part part)
{
	part.pid = pid;
	part.tid = tid;
	if (part.weight_ns)
		sink->add(sink->user, &part);
}

#endif
