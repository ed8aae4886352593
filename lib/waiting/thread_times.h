/*
 * Measures how long each thread runs, is runnable and waits, from the records
 * of its context switches. Thread snapshots (thread_snapshot.h) add where it
 * waits.
 *
 * A wait lasts from the switch that takes a thread off its CPU to the switch
 * that brings it back. It is observed if a snapshot found the thread waiting
 * and no switch record lies between the start of the wait and the end of the
 * snapshot. The stack of the snapshot is then valid for the whole wait.
 *
 * An unobserved wait is shorter than the interval between two rounds of
 * snapshots. The next observed wait of that length stands for all unobserved
 * waits of the same thread before it. The probability that a wait is observed
 * is proportional to its length, so the weights of the places are unbiased and
 * their sum is exact. If a short-lived thread ends before any of its waits is
 * observed, its waits are attributed to the place of the next short-lived
 * thread of its process that ends.
 *
 * At the end of a wait the thread is runnable but may have to wait for a CPU.
 * This run delay is exact if the time of the wakeup is known. Otherwise it is
 * taken from the total in /proc/TID/schedstat and subtracted from the waits
 * that ended since the last snapshot.
 *
 * All times are CLOCK_MONOTONIC. Records must be passed in order of time. Not
 * thread-safe.
 */
#ifndef PROF_WAITING_THREAD_TIMES_H
#define PROF_WAITING_THREAD_TIMES_H

#include "base/cleanup.h"
#include "waiting/wait_part.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct thread_times;

/* `least_ns` is the minimum length of a wait. Shorter waits are omitted. */
struct thread_times *thread_times_new(uint64_t least_ns, struct wait_sink sink);
void thread_times_free(struct thread_times *times);
DEFINE_CLEANUP(thread_times, thread_times_free)

/* --- records ---------------------------------------------------------------------------------- */

enum thread_begin {
	THREAD_IS_THERE, /* it existed before and may run or wait */
	THREAD_RUNS,
	THREAD_IS_FORKED, /* it is runnable and has not run yet */
};

/*
 * Adds a thread. Does nothing if the tid is already known, except for
 * THREAD_IS_FORKED, which first ends the old thread with this tid.
 */
void thread_times_begin(struct thread_times *times, pid_t pid, pid_t tid, uint64_t time_ns,
			enum thread_begin begin);
/* These two ignore threads that were not added. */
void thread_times_switch(struct thread_times *times, pid_t tid, uint64_t time_ns, bool is_out,
			 bool is_preempted);
void thread_times_end(struct thread_times *times, pid_t tid, uint64_t time_ns);
/* Handles an exec by this thread. All other threads of the process end. */
void thread_times_exec(struct thread_times *times, pid_t pid, pid_t tid, uint64_t time_ns);
/*
 * Sets the place at which the next switch takes the thread off its CPU. If the
 * thread then waits, no snapshot is needed.
 */
void thread_times_leaves(struct thread_times *times, pid_t tid, wait_place place);
/* Returns whether the thread was added and has not ended. */
bool thread_times_knows(const struct thread_times *times, pid_t tid);
/*
 * Records that the current wait of the thread was ended at this time by a
 * wakeup at this place.
 */
void thread_times_woken(struct thread_times *times, pid_t tid, uint64_t time_ns, wait_place place);
/* Records that the thread ran at this place. */
void thread_times_sampled(struct thread_times *times, pid_t tid, uint64_t time_ns,
			  wait_place place);
/*
 * Records that switch records were lost before this time. No wait is known to
 * last from before the loss until now.
 */
void thread_times_lost(struct thread_times *times, uint64_t now_ns);

/*
 * Stops output: until thread_times_resume(), no time is passed to the sink or
 * added to the totals. Switch records must still be passed, so that the state
 * of each thread is known at the end of the pause. Snapshots may stop.
 */
void thread_times_pause(struct thread_times *times, uint64_t now_ns);
void thread_times_resume(struct thread_times *times, uint64_t now_ns);

/* --- thread snapshots ------------------------------------------------------------------------- */

struct wait_due {
	uint32_t thread; /* index of the thread, valid until thread_times_looked() */
	pid_t pid, tid;
	uint64_t since_ns;
};

/*
 * Starts a round of snapshots of all waiting threads that have no snapshot, or
 * none since records were lost.
 */
void thread_times_begin_round(struct thread_times *times, uint64_t now_ns);
/*
 * Returns the next thread of this round in *ret, or false if there is none. The
 * caller must call thread_times_looked() for it. Only then can it be due again.
 * `interval_ns` is the time since the previous round.
 */
bool thread_times_next_due(struct thread_times *times, uint64_t now_ns, uint64_t interval_ns,
			   struct wait_due *ret);
/*
 * Returns whether a thread waited from the since_ns of its wait_due until
 * end_ns, the end of its snapshot. All records up to end_ns must have been
 * passed.
 */
bool thread_times_has_waited(const struct thread_times *times, uint32_t thread, uint64_t end_ns);
/*
 * Returns whether any thread waited from begin_ns to end_ns without running.
 * Only its current wait and its last few waits are known.
 */
bool thread_times_waited(const struct thread_times *times, pid_t tid, uint64_t begin_ns,
			 uint64_t end_ns);

enum thread_snapshot_outcome {
	/*
	 * The place is valid for the wait, as thread_times_has_waited()
	 * confirmed.
	 */
	LOOKED_PLACE,
	/*
	 * The place is only a substitute: its kind is WAIT_PLACELESS, without a
	 * stack.
	 */
	LOOKED_PLACELESS,
	LOOKED_RUNS,	/* the thread runs or is runnable */
	LOOKED_NOTHING, /* nothing was learned: the thread needs another snapshot */
};

/*
 * Reports the outcome of a snapshot. `run_delay_ns` is from
 * /proc/TID/schedstat, or 0 if unknown.
 */
void thread_times_looked(struct thread_times *times, uint32_t thread,
			 enum thread_snapshot_outcome outcome, wait_place place,
			 uint64_t run_delay_ns);

/* --- results ---------------------------------------------------------------------------------- */

/*
 * Passes everything known up to now to the sink. If is_end, this includes the
 * last waits that no snapshot observed.
 */
void thread_times_settle(struct thread_times *times, uint64_t now_ns, bool is_end);
/*
 * Forgets all places, because their ids change meaning, and resets the totals.
 * Call thread_times_settle() first.
 */
void thread_times_forget_places(struct thread_times *times);
const struct thread_times_sums *thread_times_sums(const struct thread_times *times);

#endif
