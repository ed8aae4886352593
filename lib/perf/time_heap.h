/*
 * A heap of the times of several sources' next records, used to merge them.
 *
 * The earliest time is taken first. If times are equal, the lower source number
 * is.
 */
#ifndef PROF_PERF_TIME_HEAP_H
#define PROF_PERF_TIME_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct time_heap_item {
	uint64_t time_ns;
	unsigned source;
};

/* Zeroed: empty. */
struct time_heap {
	struct time_heap_item *items;
	size_t count, room;
};

void time_heap_deinit(struct time_heap *heap);
void time_heap_put(struct time_heap *heap, uint64_t time_ns, unsigned source);
/* Returns the earliest time, or UINT64_MAX if the heap is empty. */
uint64_t time_heap_next_ns(const struct time_heap *heap);
/* Returns false if the heap is empty. */
bool time_heap_take(struct time_heap *heap, unsigned *source);

#endif
