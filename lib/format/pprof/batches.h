/*
 * The locations of pprof samples, decoded before the samples are read: a batch of samples at a
 * time, on a second thread while the caller uses the batches before. What is decoded does not
 * depend on threads; a single CPU or a short message needs none.
 */
#ifndef PROF_FORMAT_PPROF_BATCHES_H
#define PROF_FORMAT_PPROF_BATCHES_H

#include "base/bytes.h"
#include "base/cleanup.h"
#include "format/pprof/id_table.h"
#include "profile/stack_trie.h"

/* The number of samples in a batch: their stacks are found at once. */
enum { PPROF_BATCH = STACK_TRIE_PATHS_MAX };

/* The locations of a sample, leaf first. */
struct pprof_list {
	const unsigned char *at; /* where the encoded list is */
	const frame_id *frames;
	size_t count; /* at least 1 */
};

/*
 * The next PPROF_BATCH fields of the message, as far as they are samples. It has no lists of
 * samples whose locations are in several fields, take more bytes than usual, or do not all exist.
 */
struct pprof_batch {
	const unsigned char *at; /* where the first sample is */
	struct pprof_list lists[PPROF_BATCH];
	size_t count;
	/* All bytes of lists, and of those the ones not shared with the end of the list before. */
	size_t list_bytes, fresh_bytes;
};

struct pprof_batches;

/* frames: by location; borrowed, and not changed while batches are decoded. */
struct pprof_batches *pprof_batches_new(const struct id_table *frames);
void pprof_batches_free(struct pprof_batches *batches);

/*
 * The batch that begins with the rest of a message, which is PPROF_BATCH fields or a multiple of
 * that after the last one. It is valid until the next call, the message until
 * pprof_batches_free().
 */
const struct pprof_batch *pprof_batches_at(struct pprof_batches *batches, struct bytes rest);

/*
 * Decodes a list of locations into frames, for which there is room: a number takes at least a byte.
 * Returns false after a location that does not exist, or if the last number is truncated.
 */
bool pprof_decode_list(const struct id_table *frames, struct bytes list, frame_id *ret,
		       size_t *count, uint64_t *location);

#endif
