#include "perf/ring_merge.h"

#include "base/alloc.h"

#include <stdlib.h>

void ring_merge_init(struct ring_merge *merge, struct ring *rings, unsigned ring_count,
		     const struct layouts *layouts)
{
	*merge = (struct ring_merge){
		.rings = rings,
		.ring_count = ring_count,
		.layouts = layouts,
		.fronts = xcalloc(ring_count, sizeof(*merge->fronts)),
	};
	for (unsigned i = 0; i < ring_count; i++)
		merge->fronts[i].ring = i;
}

void ring_merge_deinit(struct ring_merge *merge)
{
	time_heap_deinit(&merge->order);
	free(merge->fronts);
}

/* Replaces an unreadable record by one lost record, at the time of the previous
 * record. */
static struct record lost_record(uint64_t time_ns)
{
	return (struct record){.type = RECORD_LOST, .time_ns = time_ns, .lost.count = 1};
}

static bool ring_merge_decode(const struct layouts *layouts, struct bytes raw, struct record *ret)
{
	const struct record_layout *layout = layouts_find(layouts, raw);

	return layout && record_decode(layout, raw, ret);
}

/* Adds the ring's first unread record to the heap, unless it is there
 * already. */
static void order_front(struct ring_merge *merge, struct ring_head *front)
{
	uint64_t last_ns = front->record.time_ns;
	enum ring_front found = RING_EMPTY;

	if (front->ordered)
		return;
	found = ring_front(&merge->rings[front->ring], &front->raw);
	if (found == RING_EMPTY)
		return;
	ring_prefetch(&merge->rings[front->ring]);
	if (found == RING_DAMAGED || !ring_merge_decode(merge->layouts, front->raw, &front->record))
		front->record = lost_record(last_ns);
	front->ordered = true;
	time_heap_put(&merge->order, front->record.time_ns, front->ring);
}

static void release_current(struct ring_merge *merge)
{
	struct ring_head *front = merge->current;

	if (!front)
		return;
	merge->current = NULL;
	front->ordered = false;
	ring_advance(&merge->rings[front->ring]);
	order_front(merge, front);
}

void ring_merge_batch(struct ring_merge *merge, uint64_t until_ns)
{
	release_current(merge);
	merge->until_ns = until_ns;
	for (unsigned i = merge->ring_count; i-- > 0;)
		ring_note_head(&merge->rings[i]);
	for (unsigned i = 0; i < merge->ring_count; i++)
		order_front(merge, &merge->fronts[i]);
}

const struct ring_head *ring_merge_next(struct ring_merge *merge)
{
	unsigned next = 0;

	release_current(merge);
	if (time_heap_next_ns(&merge->order) > merge->until_ns)
		return NULL;
	if (!time_heap_take(&merge->order, &next))
		return NULL;
	merge->current = &merge->fronts[next];
	return merge->current;
}
