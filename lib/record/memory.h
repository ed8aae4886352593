/*
 * Records memory: sampled allocations and blocks in use, as the consecutive
 * events alloc_objects, alloc_space, inuse_objects and inuse_space.
 *
 * An allocation of S bytes is sampled with probability 1 − exp(−S / R), where R
 * is the mean number of bytes between two samples. It stands for
 * S / (1 − exp(−S / R)) bytes, and for one S-th of that in objects, so sums are
 * unbiased. Rounding remainders are carried to the next sample.
 *
 * A block is added to the profile when its end is seen or when the profile is
 * settled, because its lifetime is not known earlier. Its labels are those of
 * its thread, plus the histogram buckets of its size and lifetime
 * (profile/allocation_classes.h). Blocks that are in use at the end are labeled
 * with the bucket of their age. An unknown lifetime gets no label. If
 * timestamps are kept, a block is an interval of the event alloc_space, from
 * its allocation to its end, weighted in bytes.
 *
 *  - A block that a process does not free before it exits counts as in use.
 *  - A child of fork() starts without blocks. Frees of its parent's blocks are
 *    ignored.
 *  - An exec frees all blocks of the process.
 *  - If a new block is allocated at the address of a block, the old one has
 *    ended at an unknown time.
 *  - A mapping can be freed in parts. Each part has its share of the bytes.
 *  - A block whose end cannot be observed is allocated but never in use. This
 *    includes blocks beyond LIVE_BLOCKS_MAX (live_blocks.h), which are counted.
 *
 * All functions accept NULL, for a recording without memory, and do nothing
 * then.
 */
#ifndef PROF_RECORD_MEMORY_H
#define PROF_RECORD_MEMORY_H

#include "perf/record.h"
#include "record/session.h"

struct memory;

/* Counts of the current profile, by the weights of samples. */
struct memory_counts {
	uint64_t samples;	  /* sampled allocations */
	uint64_t allocated_bytes; /* bytes that the samples stand for, including blocks that are not
				     in the profile yet */
	uint64_t live_bytes;	  /* in use now, or at the exit of their process */
	uint64_t left_out;	  /* blocks beyond LIVE_BLOCKS_MAX */
};

/*
 * Adds the four events to the session, which is borrowed, and uses its fold
 * hook. period_bytes is the requested mean number of bytes between two samples.
 */
struct memory *memory_new(struct session *session, uint64_t period_bytes);
void memory_free(struct memory *memory);

/* Takes the next record before the session does. RECORD_ALLOC, RECORD_FREE and
 * the records of fork, exec and exit matter. */
void memory_feed(struct memory *memory, const struct record *record);
/*
 * Adds the blocks in use to the profile, as allocated and in use. This
 * completes the profile. Call memory_begin_profile() next, or call this only in
 * a forked child.
 */
void memory_settle(struct memory *memory, uint64_t now_ns);
/*
 * Must be called when the session gets another profile. `finished` is the
 * previous one, which was settled. Surviving blocks can be in use in the new
 * profile, but are not allocated in it.
 */
void memory_begin_profile(struct memory *memory, const struct profile *finished);

struct memory_counts memory_counts(const struct memory *memory);

#endif
