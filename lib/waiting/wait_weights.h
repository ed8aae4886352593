/*
 * What the waits of one thread weigh that have ended: those that a look has met, and those that
 * none has.
 *
 * A short wait that was met stands for those before it that were not (thread_times.h). A wait that
 * was met is given out when the next one is looked at: /proc/TID/schedstat then tells how much of
 * it the thread could run and had no CPU.
 */
#ifndef PROF_WAITING_WAIT_WEIGHTS_H
#define PROF_WAITING_WAIT_WEIGHTS_H

#include "waiting/wait_part.h"

/* Waits that no look has met, since one was. */
struct unmet_waits {
	uint64_t start_ns, end_ns, weight_ns;
	uint64_t count; /* 0: there are none */
};

/* A wait that was met. */
struct met_wait {
	enum wait_kind kind;
	wait_place place;
	wait_place waker; /* PLACE_UNKNOWN: not known */
	uint64_t start_ns, end_ns, weight_ns;
	uint64_t spread_ns; /* of the weight, what was not met */
	uint64_t count;	    /* 0: there is none */
};

struct wait_weights {
	pid_t pid, tid;
	struct met_wait met; /* is given out next */
	struct unmet_waits unmet;
	wait_place last_place;	   /* of a short wait that was met … */
	wait_place last_waker;	   /* … which ended it … */
	wait_place last_met_place; /* … and of any */

	bool knows_run_delay;
	uint64_t run_delay_ns;	     /* by the last look */
	uint64_t wanted_at_delay_ns; /* the part of it that records told */
	uint64_t delay_ns;	     /* at the ends of waits, not yet given out */
};

/* is_new: the thread begins now, with a run delay of 0. */
void wait_weights_init(struct wait_weights *weights, pid_t pid, pid_t tid, bool is_new);

/* A wait has ended that was met, and weighs as long as it lasted. is_short: it might have been
 * missed. */
void wait_weights_add_met(struct wait_weights *weights, const struct wait_sink *sink,
			  const struct met_wait *wait, bool is_short);
/* A wait has ended that was not met. It may have ended before others that were added. */
void wait_weights_add_unmet(struct wait_weights *weights, uint64_t start_ns, uint64_t end_ns);

/*
 * The thread has wanted a CPU for run_delay_ns in its life (0: unknown), when it began the wait
 * that was looked at; records told of wanted_ns. Gives out the wait before it.
 */
void wait_weights_note_run_delay(struct wait_weights *weights, const struct wait_sink *sink,
				 uint64_t run_delay_ns, uint64_t wanted_ns);

/* Gives out the wait that was met last, without waiting for the next look. */
void wait_weights_give_met(struct wait_weights *weights, const struct wait_sink *sink);
/* Gives out what was not met: where the last short wait was met, else where a long one was. */
void wait_weights_give_unmet(struct wait_weights *weights, const struct wait_sink *sink);
/* Places have another meaning from now on. */
void wait_weights_forget_places(struct wait_weights *weights);

/* Waits that were not met, as a part at this place; PLACE_UNKNOWN: there is none. */
struct wait_part unmet_waits_part(const struct unmet_waits *waits, wait_place place,
				  wait_place waker);

#endif
