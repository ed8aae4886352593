/*
 * Decodes the locations of pprof samples before the samples are read: one batch
 * of samples at a time, on a second thread while the caller uses the previous
 * batches. The result does not depend on threads. A single CPU or a short
 * message needs no thread.
 */
#ifndef PROF_FORMAT_PPROF_BATCHES_H
#define PROF_FORMAT_PPROF_BATCHES_H

#include "base/bytes.h"
#include "base/cleanup.h"
#include "format/pprof/id_table.h"
#include "profile/stack_trie.h"

/* The number of samples in a batch, whose stacks are looked up together. */
enum { PPROF_BATCH = STACK_TRIE_PATHS_MAX };

/* The locations of a sample, leaf first. */
struct pprof_list {
	const unsigned char *at; /* where the encoded list is */
	const frame_id *frames;
	size_t count; /* at least 1 */
};

/*
 * The samples among the next PPROF_BATCH fields of the message. It contains no
 * lists for samples whose locations are in several fields, take more bytes than
 * usual, or do not all exist.
 */
struct pprof_batch {
	const unsigned char *at; /* where the first sample is */
	struct pprof_list lists[PPROF_BATCH];
	size_t count;
	/*
	 * The total size of the lists, and the size of the parts that are not
	 * shared with the end of the previous list.
	 */
	size_t list_bytes, fresh_bytes;
};

struct pprof_batches;

/* frames: by location; borrowed, and not changed while batches are decoded. */
struct pprof_batches *pprof_batches_new(const struct id_table *frames);
void pprof_batches_free(struct pprof_batches *batches);

/*
 * Returns the batch at the start of the rest of a message. Successive calls
 * must be a multiple of PPROF_BATCH fields apart. The batch is valid until the
 * next call. The message must stay valid until pprof_batches_free().
 */
const struct pprof_batch *pprof_batches_at(struct pprof_batches *batches, struct bytes rest);

/*
 * Decodes a list of locations into frames. There must be room for one frame per
 * byte, because a number takes at least one byte. Returns false after a
 * location that does not exist, or if the last number is truncated.
 */
bool pprof_decode_list(const struct id_table *frames, struct bytes list, frame_id *ret,
		       size_t *count, uint64_t *location);

#endif
