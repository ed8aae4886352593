/*
 * The records of several rings as one stream, ordered by time.
 *
 * Needs no kernel: rings over plain memory do. A ring that is damaged is skipped to the end of the
 * batch, a record that makes no sense likewise to the next one; each counts as one lost record.
 */
#ifndef PROF_PERF_STREAM_H
#define PROF_PERF_STREAM_H

#include "perf/order.h"
#include "perf/record.h"
#include "perf/ring.h"

#include <stdbool.h>
#include <stddef.h>

/* The first unread record of a ring. */
struct front {
	struct record record;
	struct bytes raw;
	unsigned ring; /* its number */
	bool ordered;  /* it stands in the order, or is the current one */
};

struct stream {
	struct ring *rings; /* borrowed */
	unsigned ring_count;
	const struct record_layout *layout; /* borrowed */
	struct front *fronts;		    /* one a ring */
	struct order order;
	struct front *current; /* what the caller holds; or NULL */
	uint64_t until_ns;
};

/* On equal times the ring with the lower number comes first. */
void stream_init(struct stream *stream, struct ring *rings, unsigned ring_count,
		 const struct record_layout *layout);
void stream_deinit(struct stream *stream);

/* Notes how far the rings are filled, the last ring first. Records later than until_ns are
 * left for another batch. */
void stream_batch(struct stream *stream, uint64_t until_ns);
/* NULL at the end of the batch. Borrowed until the next call of either function. */
const struct front *stream_next(struct stream *stream);

#endif
