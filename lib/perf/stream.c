#include "perf/stream.h"

#include "base/alloc.h"

#include <stdlib.h>

void stream_init(struct stream *stream, struct ring *rings, unsigned ring_count,
		 const struct record_layout *layout)
{
	*stream = (struct stream){
		.rings = rings,
		.ring_count = ring_count,
		.layout = layout,
		.fronts = xcalloc(ring_count, sizeof(*stream->fronts)),
	};
	for (unsigned i = 0; i < ring_count; i++)
		stream->fronts[i].ring = i;
}

void stream_deinit(struct stream *stream)
{
	order_deinit(&stream->order);
	free(stream->fronts);
}

/* What could not be read is one lost record, at the time of the one before it. */
static struct record lost_record(uint64_t time_ns)
{
	return (struct record){.type = RECORD_LOST, .time_ns = time_ns, .lost.count = 1};
}

/* Puts the ring's first unread record into the order, unless it stands there already. */
static void order_front(struct stream *stream, struct front *front)
{
	uint64_t last_ns = front->record.time_ns;
	enum ring_front found = RING_EMPTY;

	if (front->ordered)
		return;
	found = ring_front(&stream->rings[front->ring], &front->raw);
	if (found == RING_EMPTY)
		return;
	if (found == RING_DAMAGED || !record_decode(stream->layout, front->raw, &front->record))
		front->record = lost_record(last_ns);
	front->ordered = true;
	order_put(&stream->order, front->record.time_ns, front->ring);
}

static void release_current(struct stream *stream)
{
	struct front *front = stream->current;

	if (!front)
		return;
	stream->current = NULL;
	front->ordered = false;
	ring_advance(&stream->rings[front->ring]);
	order_front(stream, front);
}

void stream_batch(struct stream *stream, uint64_t until_ns)
{
	release_current(stream);
	stream->until_ns = until_ns;
	for (unsigned i = stream->ring_count; i-- > 0;)
		ring_note_head(&stream->rings[i]);
	for (unsigned i = 0; i < stream->ring_count; i++)
		order_front(stream, &stream->fronts[i]);
}

const struct front *stream_next(struct stream *stream)
{
	unsigned next = 0;

	release_current(stream);
	if (order_next_ns(&stream->order) > stream->until_ns)
		return NULL;
	if (!order_take(&stream->order, &next))
		return NULL;
	stream->current = &stream->fronts[next];
	return stream->current;
}
