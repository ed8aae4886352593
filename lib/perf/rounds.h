/*
 * Records that come nearly in order, put in order.
 *
 * perf reads ring after ring; when it has read each once, a round ends. What comes then is younger
 * than all that came before the round began, so what was read before it can go out, sorted.
 * Records are copied while they wait. Where a recording has no rounds, or very large ones, and too
 * much would wait, only places in the file are kept; where that cannot be or does not help either,
 * the older half goes out early.
 */
#ifndef PROF_PERF_ROUNDS_H
#define PROF_PERF_ROUNDS_H

#include "base/bytes.h"

struct waiting {
	uint64_t time_ns;
	uint64_t place;	     /* in the recording: the earlier first on equal times */
	unsigned char *copy; /* NULL: to be read again, at its place */
	uint32_t len;
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
	bool rereadable; /* the recording can be read again at any place */
};

/* A zeroed one is empty. */
void rounds_deinit(struct rounds *rounds);

/* Nothing may be ready. */
void rounds_add(struct rounds *rounds, uint64_t time_ns, uint64_t place, struct bytes raw);
void rounds_end_round(struct rounds *rounds);
/* Nothing more will come: everything may go out. */
void rounds_end(struct rounds *rounds);

/* The next that may go out; it has to be freed (waiting_deinit). False: more must come first. */
bool rounds_take(struct rounds *rounds, struct waiting *ret);
void waiting_deinit(struct waiting *waiting);

#endif
