/*
 * What thread_times.h gives out: parts of the time that threads have no CPU, and sums.
 */
#ifndef PROF_WAITING_WAIT_PART_H
#define PROF_WAITING_WAIT_PART_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Where a thread waited or ran: a number of the caller's. */
typedef uint32_t wait_place;

#define PLACE_UNKNOWN UINT32_MAX

enum wait_kind {
	WAIT_PROVED,	/* a look has met it */
	WAIT_SAMPLED,	/* it was sampled when it began */
	WAIT_SPREAD,	/* of it, the time of waits that were not met */
	WAIT_PLACELESS, /* no look can tell where */
	WAIT_WANTED_CPU,
};

/* A part of the time of one thread without a CPU. */
struct wait_part {
	enum wait_kind kind;
	pid_t pid, tid;	  /* tid -1: several threads of the process, which have ended */
	wait_place place; /* of WAIT_WANTED_CPU: where it waited, or ran if … */
	bool was_running; /* … it was preempted, or has just begun */
	bool is_woken;	  /* by the place `waker`; of WAIT_WANTED_CPU without meaning */
	wait_place waker;
	uint64_t start_ns, end_ns;
	uint64_t weight_ns; /* at most end_ns - start_ns, unless it is of several threads */
	uint64_t count;	    /* of waits, and of parts of one that goes on; 0: the end of one */
	bool has_not_run;   /* the thread, yet */
	bool is_idle;	    /* nearly all of its life is this wait, which goes on */
};

/* Of all threads. */
struct thread_times_sums {
	uint64_t threads;
	uint64_t lives_ns;
	uint64_t running_ns;
	uint64_t left_out_ns; /* waits shorter than least_ns */
};

/* Where parts go. */
struct wait_sink {
	void (*add)(void *user, const struct wait_part *part);
	void *user;
};

/* Gives out a part of this thread, unless it is empty. */
static inline void wait_sink_give(const struct wait_sink *sink, pid_t pid, pid_t tid,
				  struct wait_part part)
{
	part.pid = pid;
	part.tid = tid;
	if (part.weight_ns)
		sink->add(sink->user, &part);
}

#endif
