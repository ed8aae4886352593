#include "perf/time_heap.h"

#include "base/alloc.h"

#include <stdlib.h>

void time_heap_deinit(struct time_heap *heap)
{
	free(heap->items);
}

static bool time_heap_earlier(const struct time_heap_item *a, const struct time_heap_item *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	return a->source < b->source;
}

void time_heap_put(struct time_heap *heap, uint64_t time_ns, unsigned source)
{
	struct time_heap_item item = {.time_ns = time_ns, .source = source};
	size_t at = heap->count;

	GROW(heap->items, heap->count, heap->room);
	heap->count++;
	for (; at > 0; at = (at - 1) / 2) {
		struct time_heap_item *parent = &heap->items[(at - 1) / 2];

		if (!time_heap_earlier(&item, parent))
			break;
		heap->items[at] = *parent;
	}
	heap->items[at] = item;
}

/* Moves the last item to the top and sifts it down. */
static void close_gap_at_top(struct time_heap *heap)
{
	struct time_heap_item last = heap->items[--heap->count];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= heap->count)
			break;
		if (child + 1 < heap->count &&
		    time_heap_earlier(&heap->items[child + 1], &heap->items[child]))
			child++;
		if (!time_heap_earlier(&heap->items[child], &last))
			break;
		heap->items[at] = heap->items[child];
		at = child;
	}
	heap->items[at] = last;
}

uint64_t time_heap_next_ns(const struct time_heap *heap)
{
	return heap->count ? heap->items[0].time_ns : UINT64_MAX;
}

bool time_heap_take(struct time_heap *heap, unsigned *source)
{
	if (heap->count == 0)
		return false;
	*source = heap->items[0].source;
	close_gap_at_top(heap);
	return true;
}
