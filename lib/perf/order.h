/*
 * Which of several sources of records comes next: a heap of their first records' times.
 *
 * Each source puts the time of its next record; the earliest is taken out first, the lower source
 * number on equal times (so the side band is numbered before the samples).
 */
#ifndef PROF_PERF_ORDER_H
#define PROF_PERF_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct order_item {
	uint64_t time_ns;
	unsigned source;
};

/* Zeroed: empty. */
struct order {
	struct order_item *items;
	size_t count, room;
};

void order_deinit(struct order *order);
void order_put(struct order *order, uint64_t time_ns, unsigned source);
/* The time of the next one; UINT64_MAX when it is empty. */
uint64_t order_next_ns(const struct order *order);
/* False when it is empty. */
bool order_take(struct order *order, unsigned *source);

#endif
