/*
 * A ring full of anything: its records are found, ordered and decoded, without a read outside, and
 * it comes to an end.
 *
 * Input: sample_type and mask of registers (u64 each), the position of the ring's head (u64), and
 * what the ring holds.
 */
#include "base/alloc.h"
#include "perf/record.h"
#include "perf/stream.h"

#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DATA_BYTES = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void check_inside(struct bytes part, struct bytes raw)
{
	require(!part.at || (part.at >= raw.at && part.end <= raw.end && part.at <= part.end));
}

static size_t check(const struct front *front)
{
	const struct record *record = &front->record;

	switch (record->type) {
	case RECORD_SAMPLE:
		check_inside(record->sample.kernel_chain, front->raw);
		check_inside(record->sample.user_chain, front->raw);
		check_inside(record->sample.regs.values, front->raw);
		check_inside(record->sample.stack, front->raw);
		return 0;
	case RECORD_MMAP:
		require(record->mmap.build_id_bytes <= RECORD_BUILD_ID_MAX);
		return strlen(record->mmap.path);
	case RECORD_COMM:
		return strlen(record->comm.name);
	default:
		return 0;
	}
}

static void drain(struct stream *stream)
{
	const struct front *front = NULL;
	unsigned records = 0;
	uint64_t id = 0;

	stream_batch(stream, UINT64_MAX);
	while ((front = stream_next(stream))) {
		require(check(front) < DATA_BYTES);
		if (front->record.type == RECORD_SAMPLE)
			record_id(stream->layout, front->raw, &id);
		/* No record is shorter than its header. */
		require(++records <= DATA_BYTES / sizeof(struct perf_event_header) + 1);
	}
	require(stream->rings->tail == stream->rings->end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes input = bytes_of(data, size);
	struct record_layout layout = {.sample_type = bytes_u64(&input),
				       .regs_mask = bytes_u64(&input),
				       .build_ids = true};
	uint64_t head = bytes_u64(&input);
	size_t held = bytes_left(&input) < DATA_BYTES ? bytes_left(&input) : DATA_BYTES;
	struct perf_event_mmap_page *control = NULL;
	struct ring ring;
	struct stream stream;

	if (!bytes_ok(&input))
		return 0;
	/* Exactly as large as a ring, so that the address sanitizer sees a read past it. */
	control = xcalloc(1, ring_control_bytes() + DATA_BYTES);
	memcpy((char *)control + ring_control_bytes(), input.at, held);
	control->data_head = head;
	/* Either as full as it can be, or with a head that may be anywhere. */
	control->data_tail = head % 16 ? 0 : head - DATA_BYTES;
	ring_init(&ring, control, DATA_BYTES);
	stream_init(&stream, &ring, 1, &layout);
	drain(&stream);
	stream_deinit(&stream);
	free(ring.wrapped);
	free(control);
	return 0;
}
