#include "inside/agent_ring.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum {
	REGISTERS_MAX = 64, /* bits of regs_mask */
	RECORD_MAX = sizeof(struct inside_alloc) + 8 * REGISTERS_MAX + INSIDE_STACK_MAX,
	PAD_MIN = 8,
};

_Static_assert(RECORD_MAX >= sizeof(struct inside_maps) + INSIDE_MAPS_MAX, "any record fits");

static uint64_t agent_ring_load(const uint64_t *shared)
{
	return __atomic_load_n(shared, __ATOMIC_ACQUIRE);
}

static void move_tail(struct agent_ring *ring, uint64_t to)
{
	ring->tail = to;
	__atomic_store_n(&ring->shared->tail, to, __ATOMIC_RELEASE);
}

void agent_ring_init(struct agent_ring *ring, unsigned char *mapped, unsigned index)
{
	unsigned char *page = mapped + (size_t)(1 + index) * INSIDE_PAGE_BYTES;

	*ring = (struct agent_ring){
		.shared = (struct inside_ring *)page,
		.bytes = mapped + (size_t)(1 + INSIDE_RINGS) * INSIDE_PAGE_BYTES +
			 (size_t)index * INSIDE_RING_BYTES,
		.copy = xmalloc(RECORD_MAX),
	};
	ring->head = agent_ring_load(&ring->shared->head);
	move_tail(ring, ring->head);
}

void agent_ring_deinit(struct agent_ring *ring)
{
	free(ring->copy);
}

void agent_ring_empty(struct agent_ring *ring)
{
	ring->damaged++;
	ring->has_record = false;
	move_tail(ring, ring->head);
}

uint64_t agent_ring_note_head(struct agent_ring *ring)
{
	uint64_t head = agent_ring_load(&ring->shared->head), written = head - ring->head;

	ring->head = head;
	if (head - ring->tail > INSIDE_RING_BYTES || head % 8 || ring->tail % 8)
		agent_ring_empty(ring);
	return written > INSIDE_RING_BYTES ? INSIDE_RING_BYTES : written;
}

/*
 * Returns the length of the next record, within the noted head and the end of
 * the ring, or 0 if it is invalid.
 */
static size_t record_bytes(const struct agent_ring *ring, size_t at, enum inside_type *type)
{
	uint64_t left = ring->head - ring->tail, to_end = INSIDE_RING_BYTES - at;
	struct bytes header;
	uint32_t bytes;

	if (left > to_end)
		left = to_end;
	if (left < PAD_MIN)
		return 0;
	/* Parse the copy, because the program may change the shared memory. */
	memcpy(ring->copy, ring->bytes + at, PAD_MIN);
	header = bytes_of(ring->copy, PAD_MIN);
	bytes = bytes_u32(&header);
	*type = bytes_u16(&header);
	if (bytes % 8 || bytes > left)
		return 0;
	if (*type == INSIDE_PAD)
		return bytes >= PAD_MIN ? bytes : 0;
	return bytes >= sizeof(struct inside_header) && bytes <= RECORD_MAX ? bytes : 0;
}

/* `type` was read once, together with the length. */
static void agent_ring_take(struct agent_ring *ring, enum inside_type type, size_t at, size_t len)
{
	struct bytes bytes;

	memcpy(ring->copy + PAD_MIN, ring->bytes + at + PAD_MIN, len - PAD_MIN);
	bytes = bytes_of(ring->copy, len);
	bytes_skip(&bytes, sizeof(uint32_t) + sizeof(uint16_t));
	ring->record.type = type;
	ring->record.flags = bytes_u16(&bytes);
	ring->record.time_ns = bytes_u64(&bytes);
	ring->record.pid = (pid_t)bytes_u32(&bytes);
	ring->record.tid = (pid_t)bytes_u32(&bytes);
	ring->record.body = bytes;
	ring->has_record = true;
}

const struct agent_ring_record *agent_ring_peek(struct agent_ring *ring, uint64_t now_ns)
{
	while (!ring->has_record && ring->tail != ring->head) {
		size_t at = ring->tail % INSIDE_RING_BYTES;
		enum inside_type type;
		size_t len = record_bytes(ring, at, &type);

		if (len && type != INSIDE_PAD)
			agent_ring_take(ring, type, at, len);
		if (len)
			move_tail(ring, ring->tail + len);
		if (!len || (ring->has_record && (ring->record.time_ns > now_ns ||
						  ring->record.pid <= 0 || ring->record.tid <= 0)))
			agent_ring_empty(ring);
	}
	return ring->has_record ? &ring->record : NULL;
}

void agent_ring_drop(struct agent_ring *ring)
{
	ring->has_record = false;
}
