/*
 * Fuzzes the contents of a ring. Its records are found, sorted and decoded
 * without invalid reads, and the loop must end.
 *
 * Input: sample_type, with the branch type in the upper half, and the mask of
 * registers (u64 each), the position of the ring's head (u64), and the contents
 * of the ring.
 */
#include "base/alloc.h"
#include "perf/branch.h"
#include "perf/data_source.h"
#include "perf/record.h"
#include "perf/ring_merge.h"

#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DATA_BYTES = 4096 };

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void check_inside(struct bytes part, struct bytes raw)
{
	require(!part.at || (part.at >= raw.at && part.end <= raw.end && part.at <= part.end));
}

static void check_branches(struct bytes branches)
{
	struct branch branch;

	require(bytes_left(&branches) % BRANCH_BYTES == 0);
	while (branch_next(&branches, &branch))
		branch_type_name(branch.type);
}

static void check_data_source(uint64_t value)
{
	struct data_source source;

	data_source_decode(value, &source);
	for (unsigned i = 0; i < source.count; i++)
		require(bytes_left(&source.labels[i].text) < DATA_SOURCE_WORDS);
}

static size_t check(const struct ring_head *front)
{
	const struct record *record = &front->record;

	switch (record->type) {
	case RECORD_SAMPLE:
		check_inside(record->sample.kernel_chain, front->raw);
		check_inside(record->sample.user_chain, front->raw);
		check_inside(record->sample.regs.values, front->raw);
		check_inside(record->sample.stack, front->raw);
		check_inside(record->sample.raw_data, front->raw);
		check_inside(record->sample.branches, front->raw);
		check_branches(record->sample.branches);
		check_data_source(record->sample.data_source);
		return 0;
	case RECORD_MMAP:
		require(record->mmap.build_id_bytes <= RECORD_BUILD_ID_MAX);
		return strlen(record->mmap.path);
	case RECORD_COMM:
		return strlen(record->comm.name);
	case RECORD_CGROUP:
		return strlen(record->cgroup.path);
	case RECORD_KSYMBOL:
		return strlen(record->ksymbol.name);
	case RECORD_TEXT_POKE:
		check_inside(record->text_poke.old_code, front->raw);
		check_inside(record->text_poke.new_code, front->raw);
		return 0;
	case RECORD_DEFERRED_CHAIN:
		check_inside(record->deferred_chain.chain, front->raw);
		return 0;
	default:
		return 0;
	}
}

static void drain(struct ring_merge *stream)
{
	const struct ring_head *front = NULL;
	unsigned records = 0;
	uint64_t id = 0;

	ring_merge_batch(stream, UINT64_MAX);
	while ((front = ring_merge_next(stream))) {
		require(check(front) < DATA_BYTES);
		if (front->record.type == RECORD_SAMPLE)
			record_id(stream->layouts->items, front->raw, &id);
		/* A record is at least as long as its header. */
		require(++records <= DATA_BYTES / sizeof(struct perf_event_header) + 1);
	}
	require(stream->rings->tail == stream->rings->end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes input = bytes_of(data, size);
	uint64_t types = bytes_u64(&input);
	struct record_layout layout = {.sample_type = (uint32_t)types,
				       .branch_type = types >> 32,
				       .regs_mask = bytes_u64(&input),
				       .build_ids = true};
	struct layouts layouts = {.items = &layout, .count = 1};
	uint64_t head = bytes_u64(&input);
	size_t held = bytes_left(&input) < DATA_BYTES ? bytes_left(&input) : DATA_BYTES;
	struct perf_event_mmap_page *control = NULL;
	struct ring ring;
	struct ring_merge stream;

	if (!bytes_ok(&input))
		return 0;
	/* Exactly as large as a ring, so that the address sanitizer detects
	 * reads beyond it. */
	control = xcalloc(1, ring_control_bytes() + DATA_BYTES);
	memcpy((char *)control + ring_control_bytes(), input.at, held);
	control->data_head = head;
	/* The ring is full, or its head may be anywhere. */
	control->data_tail = head % 16 ? 0 : head - DATA_BYTES;
	ring_init(&ring, control, DATA_BYTES);
	ring_merge_init(&stream, &ring, 1, &layouts);
	drain(&stream);
	ring_merge_deinit(&stream);
	free(ring.wrapped);
	free(control);
	return 0;
}
