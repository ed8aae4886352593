/*
 * The order of samples per thread, to count how often a thread switched from
 * one task to another (tasks.h). Only the first million samples of a profile
 * are kept, in at most 8 MB.
 */
#ifndef PROF_PROFILE_SAMPLE_ORDER_H
#define PROF_PROFILE_SAMPLE_ORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ordered_sample {
	pid_t tid;
	uint32_t sample; /* index of the aggregated sample */
};

/* Zeroed: the order is not kept. */
struct sample_order {
	bool are_kept;
	struct ordered_sample *items;
	uint32_t count, room;
};

void sample_order_deinit(struct sample_order *order);

/* Does nothing if the order is not kept. */
void sample_order_add(struct sample_order *order, pid_t tid, uint32_t sample);
/*
 * Changes the indexes of the aggregated samples. moved: the new index for each
 * old index.
 */
void sample_order_move_samples(struct sample_order *order, const uint32_t *moved);

#endif
