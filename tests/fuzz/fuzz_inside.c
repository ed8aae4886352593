/*
 * A hostile program writes into the memory that it shares with prof.
 *
 * Input, of 32-bit words: parts that each begin with the lane (low byte), the place in it (0: its
 * beginning, 1: before its end, 2: where it stands), by how much its head moves, and the number of
 * bytes that follow. After each part the lanes are read.
 */
#include "base/alloc.h"
#include "base/bytes.h"
#include "inside/source.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PC_BIT = 8, PARTS_MAX = 64 };

static const struct inside_file *shared_file(void)
{
	static struct inside_file file;

	if (!file.mapped && inside_file_make(&file))
		abort();
	return &file;
}

static struct inside_lane *lane_at(const struct inside_file *file, unsigned index)
{
	return (struct inside_lane *)(void *)(file->mapped +
					      (size_t)(1 + index) * INSIDE_PAGE_BYTES);
}

static void write_part(const struct inside_file *file, struct bytes *from)
{
	unsigned index = bytes_u32(from) % INSIDE_LANES, place = bytes_u32(from) % 3;
	uint32_t moved = bytes_u32(from);
	struct bytes what = bytes_sub(from, bytes_u32(from) % (64 << 10));
	struct inside_lane *lane = lane_at(file, index);
	unsigned char *ring = file->mapped + (size_t)(1 + INSIDE_LANES) * INSIDE_PAGE_BYTES +
			      (size_t)index * INSIDE_LANE_BYTES;
	size_t len = bytes_left(&what);

	if (place < 2)
		lane->head = lane->tail = place ? INSIDE_LANE_BYTES - len / 8 * 8 : 0;
	for (size_t i = 0; i < len; i++)
		ring[(lane->head + i) % INSIDE_LANE_BYTES] = what.at[i];
	lane->head += moved;
}

/* Reads every byte that a record claims to have, and returns their sum. */
static uint64_t touch(const struct record *record)
{
	uint64_t sum = 0;
	struct bytes parts[] = {record->sample.regs.values, record->sample.stack};

	if (record->type == RECORD_MMAP)
		sum += strlen(record->mmap.path);
	else if (record->type == RECORD_COMM)
		sum += strlen(record->comm.name);
	else if (record->type == RECORD_SAMPLE || record->type == RECORD_ALLOC)
		for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
			while (bytes_left(&parts[i]))
				sum += bytes_u8(&parts[i]);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct inside_file *file = shared_file();
	struct bytes from = bytes_of(data, size);
	struct inside_source *source = inside_source_new(&(struct inside_options){
		.file = file, .cpu_hz = 100, .alloc_period = 1, .pc_bit = PC_BIT});
	struct record_source records = inside_record_source(source);
	struct record record;

	error_free(record_source_enable(&records));
	for (unsigned i = 0; i < PARTS_MAX && bytes_left(&from); i++) {
		write_part(file, &from);
		record_source_batch(&records);
		while (record_source_next(&records, &record))
			if (touch(&record) == UINT64_MAX) /* so that the reads are not left out */
				abort();
	}
	record_source_close(&records);
	for (unsigned i = 0; i < INSIDE_LANES; i++)
		lane_at(file, i)->head = lane_at(file, i)->tail;
	return 0;
}
