#include "inside/lane.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum {
	REGISTERS_MAX = 64, /* bits of regs_mask */
	RECORD_MAX = sizeof(struct inside_alloc) + 8 * REGISTERS_MAX + INSIDE_STACK_MAX,
	PAD_MIN = 8,
};

_Static_assert(RECORD_MAX >= sizeof(struct inside_maps) + INSIDE_MAPS_MAX, "any record fits");

static uint64_t load(const uint64_t *shared)
{
	return __atomic_load_n(shared, __ATOMIC_ACQUIRE);
}

static void move_tail(struct lane *lane, uint64_t to)
{
	lane->tail = to;
	__atomic_store_n(&lane->shared->tail, to, __ATOMIC_RELEASE);
}

void lane_init(struct lane *lane, unsigned char *mapped, unsigned index)
{
	unsigned char *page = mapped + (size_t)(1 + index) * INSIDE_PAGE_BYTES;

	*lane = (struct lane){
		.shared = (struct inside_lane *)page,
		.ring = mapped + (size_t)(1 + INSIDE_LANES) * INSIDE_PAGE_BYTES +
			(size_t)index * INSIDE_LANE_BYTES,
		.copy = xmalloc(RECORD_MAX),
	};
	lane->head = load(&lane->shared->head);
	move_tail(lane, lane->head);
}

void lane_deinit(struct lane *lane)
{
	free(lane->copy);
}

void lane_empty(struct lane *lane)
{
	lane->damaged++;
	lane->has_record = false;
	move_tail(lane, lane->head);
}

uint64_t lane_note_head(struct lane *lane)
{
	uint64_t head = load(&lane->shared->head), written = head - lane->head;

	lane->head = head;
	if (head - lane->tail > INSIDE_LANE_BYTES || head % 8 || lane->tail % 8)
		lane_empty(lane);
	return written > INSIDE_LANE_BYTES ? INSIDE_LANE_BYTES : written;
}

/* The length of the next record, which is within what was noted and the lane's end; 0: damaged. */
static size_t record_bytes(const struct lane *lane, size_t at, enum inside_type *type)
{
	uint64_t left = lane->head - lane->tail, to_end = INSIDE_LANE_BYTES - at;
	struct bytes header;
	uint32_t bytes;

	if (left > to_end)
		left = to_end;
	if (left < PAD_MIN)
		return 0;
	/* From the copy: the other side may write to it meanwhile. */
	memcpy(lane->copy, lane->ring + at, PAD_MIN);
	header = bytes_of(lane->copy, PAD_MIN);
	bytes = bytes_u32(&header);
	*type = bytes_u16(&header);
	if (bytes % 8 || bytes > left)
		return 0;
	if (*type == INSIDE_PAD)
		return bytes >= PAD_MIN ? bytes : 0;
	return bytes >= sizeof(struct inside_header) && bytes <= RECORD_MAX ? bytes : 0;
}

/* `type` was read once, with the length. */
static void take(struct lane *lane, enum inside_type type, size_t at, size_t len)
{
	struct bytes bytes;

	memcpy(lane->copy + PAD_MIN, lane->ring + at + PAD_MIN, len - PAD_MIN);
	bytes = bytes_of(lane->copy, len);
	bytes_skip(&bytes, sizeof(uint32_t) + sizeof(uint16_t));
	lane->record.type = type;
	lane->record.flags = bytes_u16(&bytes);
	lane->record.time_ns = bytes_u64(&bytes);
	lane->record.pid = (pid_t)bytes_u32(&bytes);
	lane->record.tid = (pid_t)bytes_u32(&bytes);
	lane->record.body = bytes;
	lane->has_record = true;
}

const struct lane_record *lane_peek(struct lane *lane, uint64_t now_ns)
{
	while (!lane->has_record && lane->tail != lane->head) {
		size_t at = lane->tail % INSIDE_LANE_BYTES;
		enum inside_type type;
		size_t len = record_bytes(lane, at, &type);

		if (len && type != INSIDE_PAD)
			take(lane, type, at, len);
		if (len)
			move_tail(lane, lane->tail + len);
		if (!len || (lane->has_record && (lane->record.time_ns > now_ns ||
						  lane->record.pid <= 0 || lane->record.tid <= 0)))
			lane_empty(lane);
	}
	return lane->has_record ? &lane->record : NULL;
}

void lane_drop(struct lane *lane)
{
	lane->has_record = false;
}
