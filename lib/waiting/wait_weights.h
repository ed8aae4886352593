/*
 * Computes the weights of the ended waits of one thread. Waits that a thread
 * snapshot observed ("met") carry the weight of those that none did ("unmet").
 *
 * An observed short wait stands for the unobserved waits before it
 * (thread_times.h). It is passed to the sink only when the next snapshot is
 * taken, because /proc/TID/schedstat then shows how much of it was run delay.
 */
#ifndef PROF_WAITING_WAIT_WEIGHTS_H
#define PROF_WAITING_WAIT_WEIGHTS_H

#include "waiting/wait_part.h"

/* The sum of unobserved waits since the last observed one. */
struct unmet_waits {
	uint64_t start_ns, end_ns, weight_ns;
	uint64_t count; /* 0 if there are none */
};

/* An observed wait. */
struct met_wait {
	enum wait_kind kind;
	wait_place place;
	wait_place waker; /* PLACE_UNKNOWN if not known */
	uint64_t start_ns, end_ns, weight_ns;
	uint64_t spread_ns; /* the part of the weight that comes from unobserved waits */
	uint64_t count;	    /* 0 if there is none */
};

struct wait_weights {
	pid_t pid, tid;
	struct met_wait met; /* not yet passed to the sink */
	struct unmet_waits unmet;
	wait_place last_place;	   /* place of the last observed short wait */
	wait_place last_waker;	   /* waker of the last observed short wait */
	wait_place last_met_place; /* place of the last observed wait of any length */

	bool knows_run_delay;
	uint64_t run_delay_ns;	     /* at the last snapshot */
	uint64_t wanted_at_delay_ns; /* the part of run_delay_ns that records account for */
	uint64_t delay_ns;	     /* run delay of ended waits that is not in a part yet */
};

/* `is_new` means that the thread is created now, with a run delay of 0. */
void wait_weights_init(struct wait_weights *weights, pid_t pid, pid_t tid, bool is_new);

/*
 * Adds an ended wait that was observed, with its length as weight. `is_short`
 * means that it was short enough to have been missed by all snapshots.
 */
void wait_weights_add_met(struct wait_weights *weights, const struct wait_sink *sink,
			  const struct met_wait *wait, bool is_short);
/*
 * Adds an ended wait that was not observed. It may have ended before others
 * that were already added.
 */
void wait_weights_add_unmet(struct wait_weights *weights, uint64_t start_ns, uint64_t end_ns);

/*
 * Notes the total run delay of the thread (0 if unknown) at the start of the
 * wait in the current snapshot. Records account for `wanted_ns` of it. Passes
 * the previous observed wait to the sink.
 */
void wait_weights_note_run_delay(struct wait_weights *weights, const struct wait_sink *sink,
				 uint64_t run_delay_ns, uint64_t wanted_ns);

/*
 * Passes the last observed wait to the sink without waiting for the next
 * snapshot.
 */
void wait_weights_give_met(struct wait_weights *weights, const struct wait_sink *sink);
/*
 * Passes the unobserved waits to the sink, at the place of the last observed
 * short wait or else of the last observed long one.
 */
void wait_weights_give_unmet(struct wait_weights *weights, const struct wait_sink *sink);
/* Forgets all places, because their ids change meaning. */
void wait_weights_forget_places(struct wait_weights *weights);

/*
 * Returns the unobserved waits as a part with this place, which may be
 * PLACE_UNKNOWN.
 */
struct wait_part unmet_waits_part(const struct unmet_waits *waits, wait_place place,
				  wait_place waker);

#endif
