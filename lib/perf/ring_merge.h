/*
 * Merges the records of several rings, ordered by time.
 *
 * A damaged ring is skipped to the end of the batch, a malformed record to the next one; each is
 * replaced by a RECORD_LOST of one record. Rings over plain memory do, so tests need no kernel.
 */
#ifndef PROF_PERF_RING_MERGE_H
#define PROF_PERF_RING_MERGE_H

#include "perf/layouts.h"
#include "perf/ring.h"
#include "perf/time_heap.h"

#include <stdbool.h>
#include <stddef.h>

/* The first unread record of a ring. */
struct ring_head {
	struct record record;
	struct bytes raw;
	unsigned ring; /* its number */
	bool ordered;  /* it is in the heap, or is the current one */
};

struct ring_merge {
	struct ring *rings; /* borrowed */
	unsigned ring_count;
	const struct layouts *layouts; /* borrowed */
	struct ring_head *fronts;      /* one per ring */
	struct time_heap order;
	struct ring_head *current; /* borrowed by the caller; or NULL */
	uint64_t until_ns;
	bool keeps;
};

/* On equal times the ring with the lower number comes first. */
void ring_merge_init(struct ring_merge *merge, struct ring *rings, unsigned ring_count,
		     const struct layouts *layouts);
void ring_merge_deinit(struct ring_merge *merge);

/* Begins a batch: notes how far the rings are filled, the last ring first. Records later than
 * until_ns are left for the next batch. */
void ring_merge_batch(struct ring_merge *merge, uint64_t until_ns);
/* NULL at the end of the batch. Borrowed until the next call of either function. */
const struct ring_head *ring_merge_next(struct ring_merge *merge);
/*
 * From now on records stay in their rings after the next one was read, so copies of a struct record
 * stay valid. Each call gives back those that were read before the last call: two calls give back
 * all but the current one.
 */
void ring_merge_keep(struct ring_merge *merge);
/* Gives back all records. */
void ring_merge_end_keeping(struct ring_merge *merge);

#endif
