#include "waiting/wait_weights.h"

void wait_weights_init(struct wait_weights *weights, pid_t pid, pid_t tid, bool is_new)
{
	*weights = (struct wait_weights){.pid = pid, .tid = tid, .knows_run_delay = is_new};
	wait_weights_forget_places(weights);
}

void wait_weights_forget_places(struct wait_weights *weights)
{
	weights->last_place = weights->last_met_place = weights->last_waker = PLACE_UNKNOWN;
}

static void wait_weights_give(const struct wait_weights *weights, const struct wait_sink *sink,
			      struct wait_part part)
{
	wait_sink_give(sink, weights->pid, weights->tid, part);
}

/* Passes on the observed wait. `delay_ns` at its end is run delay. */
static void give_met(struct wait_weights *weights, const struct wait_sink *sink, uint64_t delay_ns)
{
	struct met_wait met = weights->met;
	struct wait_part part = {
		.place = met.place,
		.is_woken = met.waker != PLACE_UNKNOWN,
		.waker = met.waker,
		.start_ns = met.start_ns,
		.end_ns = met.end_ns,
	};
	uint64_t waited_ns = met.weight_ns - delay_ns, spread_ns;

	if (!met.count)
		return;
	weights->met.count = 0;
	spread_ns = met.spread_ns < waited_ns ? met.spread_ns : waited_ns;
	part.kind = WAIT_RUNNABLE;
	part.weight_ns = delay_ns;
	if (met.count == 1)
		part.start_ns = met.end_ns - delay_ns;
	wait_weights_give(weights, sink, part);
	part.start_ns = met.start_ns;
	if (met.count == 1)
		part.end_ns = met.end_ns - delay_ns;
	part.kind = met.kind;
	part.count = 1;
	part.weight_ns = waited_ns - spread_ns;
	wait_weights_give(weights, sink, part);
	part.kind = WAIT_SPREAD;
	part.count = met.count - 1;
	part.weight_ns = spread_ns;
	wait_weights_give(weights, sink, part);
}

void wait_weights_give_met(struct wait_weights *weights, const struct wait_sink *sink)
{
	give_met(weights, sink, 0);
}

struct wait_part unmet_waits_part(const struct unmet_waits *waits, wait_place place,
				  wait_place waker)
{
	return (struct wait_part){
		.kind = place == PLACE_UNKNOWN ? WAIT_PLACELESS : WAIT_SPREAD,
		.place = place,
		.is_woken = waker != PLACE_UNKNOWN,
		.waker = waker,
		.start_ns = waits->start_ns,
		.end_ns = waits->end_ns,
		.weight_ns = waits->weight_ns,
		.count = waits->count,
	};
}

void wait_weights_give_unmet(struct wait_weights *weights, const struct wait_sink *sink)
{
	wait_place place = weights->last_place != PLACE_UNKNOWN ? weights->last_place
								: weights->last_met_place;

	wait_weights_give(weights, sink,
			  unmet_waits_part(&weights->unmet, place, weights->last_waker));
	weights->unmet = (struct unmet_waits){0};
}

/*
 * Adds the unobserved waits to the observed short one. They can have ended
 * after it.
 */
static void add_spread(struct wait_weights *weights)
{
	struct met_wait *met = &weights->met;
	const struct unmet_waits *unmet = &weights->unmet;

	if (!unmet->count)
		return;
	met->spread_ns = unmet->weight_ns;
	met->weight_ns += unmet->weight_ns;
	met->count += unmet->count;
	if (unmet->start_ns < met->start_ns)
		met->start_ns = unmet->start_ns;
	if (unmet->end_ns > met->end_ns)
		met->end_ns = unmet->end_ns;
	weights->unmet = (struct unmet_waits){0};
}

void wait_weights_add_met(struct wait_weights *weights, const struct wait_sink *sink,
			  const struct met_wait *wait, bool is_short)
{
	wait_weights_give_met(weights, sink);
	weights->met = *wait;
	weights->met.weight_ns = wait->end_ns - wait->start_ns;
	weights->met.count = 1;
	if (wait->kind == WAIT_PLACELESS)
		return;
	weights->last_met_place = wait->place;
	if (is_short) {
		weights->last_place = wait->place;
		weights->last_waker = wait->waker;
		add_spread(weights);
	} else if (weights->last_place != PLACE_UNKNOWN) {
		/* Otherwise the parts would overlap in time. */
		wait_weights_give_unmet(weights, sink);
	}
}

void wait_weights_add_unmet(struct wait_weights *weights, uint64_t start_ns, uint64_t end_ns)
{
	struct unmet_waits *unmet = &weights->unmet;

	if (!unmet->count || start_ns < unmet->start_ns)
		unmet->start_ns = start_ns;
	if (end_ns > unmet->end_ns)
		unmet->end_ns = end_ns;
	unmet->weight_ns += end_ns - start_ns;
	unmet->count++;
}

void wait_weights_note_run_delay(struct wait_weights *weights, const struct wait_sink *sink,
				 uint64_t run_delay_ns, uint64_t wanted_ns)
{
	uint64_t told_ns = wanted_ns - weights->wanted_at_delay_ns, share_ns = 0;
	uint64_t passed_ns = run_delay_ns > weights->run_delay_ns
				     ? run_delay_ns - weights->run_delay_ns
				     : 0;

	if (run_delay_ns && weights->knows_run_delay && passed_ns > told_ns)
		weights->delay_ns += passed_ns - told_ns;
	if (run_delay_ns) {
		weights->knows_run_delay = true;
		weights->run_delay_ns = run_delay_ns;
		weights->wanted_at_delay_ns = wanted_ns;
	}
	if (!weights->met.count)
		return;
	share_ns = (uint64_t)((double)weights->delay_ns * (double)weights->met.count /
			      (double)(weights->met.count + weights->unmet.count));
	weights->delay_ns -= share_ns;
	give_met(weights, sink,
		 share_ns < weights->met.weight_ns ? share_ns : weights->met.weight_ns);
}
