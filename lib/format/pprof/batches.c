#include "format/pprof/batches.h"

#include "base/affinity.h"
#include "base/alloc.h"
#include "base/team.h"
#include "format/pprof/fields.h"
#include "format/pprof/wire.h"

#include <stdlib.h>

enum {
	/*
	 * Longer lists are omitted, because the memory limit is checked only
	 * after a few samples.
	 */
	LIST_BYTES_MAX = 4096,
	/* Decoding takes far longer than waking a thread. */
	BLOCK_BATCHES = 32,
	/* A batch fits into the second half. */
	BLOCK_FRAMES = 2 * PPROF_BATCH * LIST_BYTES_MAX,
	/* For a shorter message, starting a thread does not pay. */
	THREAD_BYTES_MIN = 256 * 1024,
};

/* Consecutive batches that are decoded together. */
struct block {
	struct bytes rest; /* of the message */
	bool goes_on;	   /* a sample was the previous field */
	struct pprof_batch batches[BLOCK_BATCHES];
	size_t count, passed;
	frame_id *frames; /* of all lists: BLOCK_FRAMES */
	size_t frame_count;
};

struct pprof_batches {
	const struct id_table *frames;
	struct team *team;
	struct block blocks[2];
	struct block *block, *next;
	bool is_begun; /* decoding of `next` has started */
};

struct pprof_batches *pprof_batches_new(const struct id_table *frames)
{
	struct pprof_batches *batches = xcalloc(1, sizeof(*batches));

	batches->frames = frames;
	batches->block = &batches->blocks[0];
	batches->next = &batches->blocks[1];
	for (size_t i = 0; i < ARRAY_SIZE(batches->blocks); i++)
		batches->blocks[i].frames = xreallocarray(NULL, BLOCK_FRAMES, sizeof(frame_id));
	return batches;
}

void pprof_batches_free(struct pprof_batches *batches)
{
	if (!batches)
		return;
	if (batches->is_begun)
		team_finish(batches->team);
	team_free(batches->team);
	for (size_t i = 0; i < ARRAY_SIZE(batches->blocks); i++)
		free(batches->blocks[i].frames);
	free(batches);
}

/* Most locations have two or three bytes, where a call would take longest. */
static uint64_t batches_next_number(struct bytes *list)
{
	uint64_t number;

	return bytes_uleb_of_word(list, &number) ? number : bytes_uleb(list);
}

bool pprof_decode_list(const struct id_table *frames, struct bytes list, frame_id *ret,
		       size_t *count, uint64_t *location)
{
	*count = 0;
	while (bytes_left(&list)) {
		*location = batches_next_number(&list);
		ret[*count] = id_table_get(frames, *location);
		if (ret[*count] == IDMAP_NONE)
			return false;
		++*count;
	}
	return bytes_ok(&list);
}

/*
 * Returns the locations of a sample if they are one field, the first, which is
 * the usual case.
 */
static bool plain_locations(struct bytes sample, struct bytes *ret)
{
	struct wire_field field, next;

	if (!wire_next(&sample, &field) || field.number != PPROF_SAMPLE_LOCATION)
		return false;
	*ret = field.bytes;
	return !wire_next(&sample, &next) || next.number != PPROF_SAMPLE_LOCATION;
}

static void batches_add_list(struct block *block, struct pprof_batch *batch, struct bytes list,
			     const struct id_table *frames)
{
	struct pprof_list *next = &batch->lists[batch->count];
	frame_id *room = block->frames + block->frame_count;
	uint64_t location;

	*next = (struct pprof_list){.at = list.at, .frames = room};
	if (bytes_left(&list) > LIST_BYTES_MAX ||
	    !pprof_decode_list(frames, list, room, &next->count, &location) || !next->count)
		return;
	block->frame_count += next->count;
	batch->count++;
}

static void decode_batch(struct block *block, const struct id_table *frames)
{
	struct pprof_batch *batch = &block->batches[block->count++];
	struct bytes before = {0}, list;

	batch->at = block->rest.at;
	batch->count = batch->list_bytes = batch->fresh_bytes = 0;
	for (unsigned i = 0; i < PPROF_BATCH; i++) {
		struct bytes rest = block->rest;
		struct wire_field field;

		block->goes_on = wire_next(&rest, &field) && field.number == PPROF_PROFILE_SAMPLE;
		if (!block->goes_on)
			return;
		block->rest = rest;
		if (!plain_locations(field.bytes, &list))
			continue;
		batch->list_bytes += bytes_left(&list);
		batch->fresh_bytes += bytes_left(&list) - wire_common_end(list, before);
		before = list;
		batches_add_list(block, batch, list, frames);
	}
}

static void decode_block(void *context, size_t item, unsigned member)
{
	struct pprof_batches *batches = context;
	struct block *block = batches->next;
	/*
	 * Without further threads, the caller uses a batch while it is in the
	 * CPU caches.
	 */
	size_t most = team_size(batches->team) > 1 ? BLOCK_BATCHES : 1;

	(void)item, (void)member;
	block->count = block->passed = block->frame_count = 0;
	do
		decode_batch(block, batches->frames);
	while (block->goes_on && block->count < most && block->frame_count <= BLOCK_FRAMES / 2);
}

static void batches_begin(struct pprof_batches *batches, struct bytes rest)
{
	batches->next->rest = rest;
	batches->is_begun = true;
	team_begin(batches->team, 1, decode_block, batches);
}

/* Proceeds to the next block. */
static void batches_finish(struct pprof_batches *batches)
{
	struct block *block = batches->next;

	team_finish(batches->team);
	batches->is_begun = false;
	batches->next = batches->block;
	batches->block = block;
	if (block->goes_on)
		batches_begin(batches, block->rest);
}

/* Returns the batch of the current block that starts there, or NULL. */
static const struct pprof_batch *batches_find(struct block *block, const unsigned char *at)
{
	while (block->passed < block->count && block->batches[block->passed].at < at)
		block->passed++;
	return block->passed < block->count && block->batches[block->passed].at == at
		       ? &block->batches[block->passed]
		       : NULL;
}

const struct pprof_batch *pprof_batches_at(struct pprof_batches *batches, struct bytes rest)
{
	const struct pprof_batch *batch;

	if (!batches->team)
		batches->team = team_new(
			bytes_left(&rest) < THREAD_BYTES_MIN || affinity_cpu_count() < 2 ? 1 : 2);
	while (!(batch = batches_find(batches->block, rest.at))) {
		if (!batches->is_begun)
			batches_begin(batches, rest);
		batches_finish(batches);
	}
	return batch;
}
