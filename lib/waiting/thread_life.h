/*
 * Measures the times of one thread for thread_times.h, from its first record
 * until it has ended. The thread is in exactly one state at a time. When a
 * state ends, its time is added to the totals or passed to the sink as a part.
 */
#ifndef PROF_WAITING_THREAD_LIFE_H
#define PROF_WAITING_THREAD_LIFE_H

#include "waiting/wait_part.h"
#include "waiting/wait_weights.h"

enum thread_state {
	STATE_NONE,   /* no thread yet */
	STATE_UNSEEN, /* it existed before the first record, and has no record yet */
	STATE_RUNS,
	STATE_WAITS,
	STATE_WANTS_CPU,
};

enum thread_snapshot_state {
	THREAD_SNAPSHOT_NONE,  /* not taken, or without a result */
	THREAD_SNAPSHOT_ASKED, /* in progress, for the wait that started at asked_since_ns */
	THREAD_SNAPSHOT_MET,   /* done: the place is known */
};

/*
 * The number of ended waits that are remembered per thread. It covers the waits
 * that end before the result of a snapshot arrives.
 */
enum { ENDED_WAITS = 4 };

struct thread_life {
	pid_t pid, tid;
	enum thread_state state;
	bool has_run, has_ended;
	uint64_t since_ns; /* start of the current state */
	uint64_t begun_ns; /* when its life in the recording started */
	/*
	 * Time before this was already passed to the sink or added to the
	 * totals.
	 */
	uint64_t given_out_ns;
	uint64_t life_given_ns; /* the same for the totals of its life */

	enum thread_snapshot_state snapshot;
	uint64_t asked_ns, asked_since_ns, interval_ns;
	enum wait_kind kind; /* kind of `place`, if THREAD_SNAPSHOT_MET */
	wait_place place;
	wait_place sample_place; /* place of its last sample */
	uint64_t sampled_ns;	 /* time of its last sample */

	/*
	 * The last ended waits, as a ring. ended_next is the slot that is
	 * written next.
	 */
	struct {
		uint64_t start_ns, end_ns;
	} ended[ENDED_WAITS];
	uint32_t ended_next;
	/*
	 * A wait that ended while its snapshot was in progress. ended_end_ns is
	 * 0 if there is none.
	 */
	uint64_t ended_start_ns, ended_end_ns, ended_wanted_ns;
	wait_place ended_waker;
	struct wait_weights weights;

	wait_place leaves_at; /* place of the next switch off its CPU, or PLACE_UNKNOWN */
	uint64_t woken_ns;    /* end of the current wait by a wakeup, or 0 if unknown */
	wait_place waker;

	uint64_t wanted_ns;	    /* the part of its run delay that records account for */
	uint64_t wanted_at_wait_ns; /* wanted_ns at the start of the current wait */
};

/* Output and totals, shared by all threads. */
struct life_counting {
	uint64_t least_ns; /* shorter waits are omitted */
	struct wait_sink sink;
	struct thread_times_sums sums;
	bool is_paused; /* no output and no totals */
};

/*
 * Starts a life in this state. `is_new` means that the thread was created now.
 * Returns whether a snapshot is needed to find out where it waits.
 */
bool thread_life_begin(struct thread_life *life, pid_t pid, pid_t tid, uint64_t time_ns,
		       enum thread_state state, bool is_new);
/*
 * Ends the current state and enters another. Returns the same as
 * thread_life_begin().
 */
bool thread_life_change(struct thread_life *life, struct life_counting *counting,
			enum thread_state state, uint64_t now_ns);
/* Records that the thread has run since the start, if it has no record yet. */
void thread_life_note_running(struct thread_life *life);
void thread_life_end(struct thread_life *life, struct life_counting *counting, uint64_t now_ns);

/* Returns whether the thread is off-CPU, according to its records. */
bool thread_life_is_off(const struct thread_life *life);
/*
 * Returns whether it waited from begin_ns to end_ns without running. Only its
 * current wait and its last ENDED_WAITS waits are known.
 */
bool thread_life_waited(const struct thread_life *life, uint64_t begin_ns, uint64_t end_ns);
/*
 * Returns whether the thread lived so briefly that its waits may be attributed
 * to the places of similar threads of the process.
 */
bool thread_life_was_short(const struct thread_life *life);

/*
 * Records that a snapshot of the current wait starts. `interval_ns` is the time
 * since the previous round.
 */
void thread_life_ask(struct thread_life *life, uint64_t now_ns, uint64_t interval_ns);
/*
 * Returns whether, according to the records, the wait in the snapshot lasted
 * until end_ns.
 */
bool thread_life_has_waited(const struct thread_life *life, uint64_t end_ns);
/*
 * Records the outcome of the snapshot. `is_met` means that it found the place.
 * For `run_delay_ns` see thread_times_looked().
 */
void thread_life_looked(struct thread_life *life, struct life_counting *counting, bool is_met,
			enum wait_kind kind, wait_place place, uint64_t run_delay_ns);
/* Counts a wait that ended during its snapshot as unobserved. */
void thread_life_give_up_thread_snapshot(struct thread_life *life);
/*
 * Drops the place of the current wait after a loss of records, because the
 * thread may have run since. Returns whether the place was known.
 */
bool thread_life_doubt_place(struct thread_life *life, struct life_counting *counting,
			     uint64_t now_ns);
/* Forgets all places, because their ids change meaning. */
void thread_life_forget_places(struct thread_life *life);

/* Does thread_times_settle() for one thread. */
void thread_life_settle(struct thread_life *life, struct life_counting *counting, uint64_t now_ns,
			bool is_end);
/* Start and end a pause. */
void thread_life_pause(struct thread_life *life, struct life_counting *counting, uint64_t now_ns);
void thread_life_resume(struct thread_life *life, uint64_t now_ns);

#endif
