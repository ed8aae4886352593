/*
 * Divides elapsed time among the threads of a program, so that over any range
 * of time the parts add up to the length of the range.
 *
 * A moment in which n threads run is shared among them: each gets 1/n of it, at
 * the place of its next sample. A moment in which no thread runs is a silence.
 * It belongs to the wait that ended it: the wait of the thread that runs first
 * after it. A silence that no thread has ended belongs to the wait that
 * started it.
 *
 * The state of each thread comes from the records of its context switches.
 * Where it waited comes from the parts of thread_times.h, which arrive later.
 *
 * All times are CLOCK_MONOTONIC. Records must be passed in order of time.
 * From the start of the first thread to the end of the last one, every
 * nanosecond is accounted for, except in pauses. Not thread-safe.
 */
#ifndef PROF_WAITING_ELAPSED_TIMES_H
#define PROF_WAITING_ELAPSED_TIMES_H

#include "base/cleanup.h"
#include "waiting/wait_part.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A part of elapsed time that belongs to one thread. */
struct elapsed_part {
	pid_t pid, tid;
	/* PLACE_UNKNOWN: the thread ended without a sample or snapshot. */
	wait_place place;
	unsigned parallelism; /* the number of threads that ran, or 0 for a wait */
	uint64_t start_ns, end_ns;
	uint64_t weight_ns; /* at most end_ns - start_ns */
};

struct elapsed_sink {
	void (*add)(void *user, const struct elapsed_part *part);
	void *user;
};

struct elapsed_times;

/* Time counts from the first elapsed_times_resume() on. */
struct elapsed_times *elapsed_times_new(struct elapsed_sink sink);
void elapsed_times_free(struct elapsed_times *times);
DEFINE_CLEANUP(elapsed_times, elapsed_times_free)

/* Adds a thread. Does nothing if the thread is known. A known tid of another
 * process is that of a thread whose end was lost. */
void elapsed_times_begin(struct elapsed_times *times, pid_t pid, pid_t tid, uint64_t time_ns,
			 bool runs);
/* These three ignore threads that were not added. */
void elapsed_times_switch(struct elapsed_times *times, pid_t tid, uint64_t time_ns, bool is_out);
void elapsed_times_end(struct elapsed_times *times, pid_t tid, uint64_t time_ns);
/* The thread runs at this place. */
void elapsed_times_sampled(struct elapsed_times *times, pid_t tid, uint64_t time_ns,
			   wait_place place);
/* Handles an exec by this thread. All other threads of the process end, and the
 * places of the old program are forgotten. */
void elapsed_times_exec(struct elapsed_times *times, pid_t pid, pid_t tid, uint64_t time_ns);

/* The thread waited at this place. tid is -1 for ended threads of the process.
 * The thread's silences in this time get the place. */
void elapsed_times_waited(struct elapsed_times *times, pid_t pid, pid_t tid, uint64_t start_ns,
			  uint64_t end_ns, wait_place place);

/* From the pause to the resumption no time is accounted for. Records must still
 * be passed. */
void elapsed_times_pause(struct elapsed_times *times, uint64_t now_ns);
void elapsed_times_resume(struct elapsed_times *times, uint64_t now_ns);

/* Call this before the waits up to now are passed to elapsed_times_waited(),
 * which attributes a silence in progress to the wait that started it. */
void elapsed_times_begin_settling(struct elapsed_times *times, uint64_t now_ns);
/* Forgets all places, because their ids change meaning. If is_end, everything
 * up to elapsed_times_begin_settling() is passed to the sink; what has no place
 * yet gets PLACE_UNKNOWN. */
void elapsed_times_settle(struct elapsed_times *times, bool is_end);

#endif
