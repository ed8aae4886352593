/*
 * The times of one thread, from when it is known until it has ended: how long it runs, wants a CPU
 * and waits. It is in one state at a time; the end of a state is counted, which gives out parts.
 * thread_times.h says how.
 */
#ifndef PROF_WAITING_THREAD_LIFE_H
#define PROF_WAITING_THREAD_LIFE_H

#include "waiting/wait_part.h"
#include "waiting/wait_weights.h"

enum thread_state {
	STATE_NONE,   /* its life has not begun */
	STATE_UNSEEN, /* it was there before the records; none has come yet */
	STATE_RUNS,
	STATE_WAITS,
	STATE_WANTS_CPU,
};

enum look_state {
	LOOK_NONE,  /* none, or it was to no avail */
	LOOK_ASKED, /* under way, at the wait since asked_since_ns */
	LOOK_MET,   /* the place is known */
};

/* Of a thread, that are remembered: as many as end until a look that met one is taken. */
enum { ENDED_WAITS = 4 };

struct thread_life {
	pid_t pid, tid;
	enum thread_state state;
	bool has_run, has_ended;
	uint64_t since_ns;	/* of the state */
	uint64_t begun_ns;	/* its life in the recording */
	uint64_t given_out_ns;	/* what was before is given out, or in the sums */
	uint64_t life_given_ns; /* likewise of its life */

	enum look_state look;
	uint64_t asked_ns, asked_since_ns, interval_ns;
	enum wait_kind kind; /* LOOK_MET: of the place */
	wait_place place;
	wait_place sample_place; /* of its last sample … */
	uint64_t sampled_ns;	 /* … and when that was */

	/* Waits that have ended, the last of which is before the next one to be written. */
	struct {
		uint64_t start_ns, end_ns;
	} ended[ENDED_WAITS];
	uint32_t ended_next;
	/* A wait that has ended while a look at it was under way; end_ns 0: none. */
	uint64_t ended_start_ns, ended_end_ns, ended_wanted_ns;
	wait_place ended_waker;
	struct wait_weights weights;

	wait_place leaves_at; /* of the next switch from its CPU; PLACE_UNKNOWN: not known */
	uint64_t woken_ns;    /* the present wait; 0: it is not known to be */
	wait_place waker;

	uint64_t wanted_ns;	    /* the part of its run delay that records tell … */
	uint64_t wanted_at_wait_ns; /* … before the present wait */
};

/* Where the times of all threads go. */
struct life_counting {
	uint64_t least_ns; /* shorter waits are left out */
	struct wait_sink sink;
	struct thread_times_sums sums;
	bool is_paused; /* nothing is given out, or added to the sums */
};

/*
 * The life begins in this state. is_new: the thread was created now. Returns whether a look is
 * needed to know where it waits.
 */
bool thread_life_begin(struct thread_life *life, pid_t pid, pid_t tid, uint64_t time_ns,
		       enum thread_state state, bool is_new);
/* Ends the state that it is in, and begins another. Returns the same. */
bool thread_life_change(struct thread_life *life, struct life_counting *counting,
			enum thread_state state, uint64_t now_ns);
/* It has run all the time, if no record has come of it. */
void thread_life_note_running(struct thread_life *life);
void thread_life_end(struct thread_life *life, struct life_counting *counting, uint64_t now_ns);

/* It waits, as far as records tell. */
bool thread_life_is_off(const struct thread_life *life);
/* Whether it waited from begin_ns to end_ns: in its present wait, or one of the last few. */
bool thread_life_waited(const struct thread_life *life, uint64_t begin_ns, uint64_t end_ns);
/* One of many threads that do the same, and each of which is hardly ever looked at. */
bool thread_life_was_short(const struct thread_life *life);

/* A look at the present wait begins. interval_ns: since the round of looks before. */
void thread_life_ask(struct thread_life *life, uint64_t now_ns, uint64_t interval_ns);
/* Whether the wait that was looked at lasted until end_ns, as far as records tell. */
bool thread_life_has_waited(const struct thread_life *life, uint64_t end_ns);
/* The look is over. is_met: it has found the place; run_delay_ns as in thread_times_looked(). */
void thread_life_looked(struct thread_life *life, struct life_counting *counting, bool is_met,
			enum wait_kind kind, wait_place place, uint64_t run_delay_ns);
/* A wait that has ended while it was looked at: it is not known where, after all. */
void thread_life_give_up_look(struct thread_life *life);
/* Records were lost: the place may not be that of the wait any more. Returns whether it was known.
 */
bool thread_life_doubt_place(struct thread_life *life, struct life_counting *counting,
			     uint64_t now_ns);
/* Places have another meaning from now on. */
void thread_life_forget_places(struct thread_life *life);

/* As thread_times_settle(), of one thread. */
void thread_life_settle(struct thread_life *life, struct life_counting *counting, uint64_t now_ns,
			bool is_end);
/* The beginning and the end of a pause. */
void thread_life_pause(struct thread_life *life, struct life_counting *counting, uint64_t now_ns);
void thread_life_resume(struct thread_life *life, uint64_t now_ns);

#endif
