/*
 * Records that come nearly in order, put in order.
 *
 * perf reads ring after ring; when it has read each once, a round ends. What comes then is younger
 * than all that came before the round began, so what was read before it can go out, sorted.
 * What does not last where it lies is copied while it waits. Where a recording has no rounds, or
 * very large ones, and too much would wait, the older half goes out early.
 */
#ifndef PROF_PERF_ROUNDS_H
#define PROF_PERF_ROUNDS_H

#include "base/bytes.h"

struct waiting {
	uint64_t time_ns;
	uint64_t place; /* in the recording: the earlier first on equal times */
	const unsigned char *at;
	uint32_t len;
	bool copied;
};

struct rounds {
	struct waiting *items;
	size_t count, room;
	size_t next, ready;	/* items[next … ready) may go out, sorted */
	uint64_t youngest_ns;	/* of all that came */
	uint64_t last_round_ns; /* the youngest when the last round ended */
	uint64_t out_ns;	/* what goes out from now on should not be older */
	uint64_t late;		/* how many were */
	size_t copied_bytes;
};

/* A zeroed one is empty. */
void rounds_deinit(struct rounds *rounds);

/* Nothing may be ready. lasts: raw stays where it is, and as it is, until it has gone out. */
void rounds_add(struct rounds *rounds, uint64_t time_ns, uint64_t place, struct bytes raw,
		bool lasts);
void rounds_end_round(struct rounds *rounds);
/* Nothing more will come: everything may go out. */
void rounds_end(struct rounds *rounds);

/* The next that may go out; it has to be freed (waiting_deinit). False: more must come first. */
bool rounds_take(struct rounds *rounds, struct waiting *ret);
void waiting_deinit(struct waiting *waiting);

#endif
