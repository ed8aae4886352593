/*
 * Merges the records of several rings by time.
 *
 * A damaged ring is skipped to the end of the batch, a malformed record to the
 * next record. Each is replaced by a RECORD_LOST with a count of one. Rings
 * over plain memory work as well, so tests need no kernel.
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
	unsigned ring; /* number of the ring */
	bool ordered;  /* it is in the heap, or it is the current one */
};

struct ring_merge {
	struct ring *rings; /* borrowed */
	unsigned ring_count;
	const struct layouts *layouts; /* borrowed */
	struct ring_head *fronts;      /* one per ring */
	struct time_heap order;
	struct ring_head *current; /* borrowed by the caller; may be NULL */
	uint64_t until_ns;
};

/* If times are equal, the ring with the lower number comes first. */
void ring_merge_init(struct ring_merge *merge, struct ring *rings, unsigned ring_count,
		     const struct layouts *layouts);
void ring_merge_deinit(struct ring_merge *merge);

/* Starts a batch: reads the heads of all rings, the last ring first. Records
 * later than until_ns remain for the next batch. */
void ring_merge_batch(struct ring_merge *merge, uint64_t until_ns);
/* Returns NULL at the end of the batch. The result is borrowed until the next
 * call of either function. */
const struct ring_head *ring_merge_next(struct ring_merge *merge);

#endif
