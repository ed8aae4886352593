/*
 * The part of a recorder that records memory: sampled allocations and the blocks that live, as the
 * events alloc_objects, alloc_space, inuse_objects and inuse_space, which follow each other in this
 * order.
 *
 * An allocation of S bytes is sampled with probability 1 − exp(−S / R), R being the mean number of
 * bytes between two samples; so it stands for S / (1 − exp(−S / R)) bytes, and for an S-th of that
 * as objects: sums are unbiased. The remainders of rounding are carried to the next sample.
 *
 * A block is added to the profile when its end is seen, or when the profile is settled: only then
 * it is known how long the block lived. Its labels are those of its thread, and the classes of its
 * size and of its lifetime (profile/allocation_classes.h); the lifetime is left out where it is
 * unknown. Blocks that live at the end are in use; they have the class of their age, too. Where
 * timestamps are kept, a block is an interval of the event alloc_space, from its allocation to its
 * end, whose weight is in bytes.
 *
 * - A block of a process that has ended without giving it back was in use at its end, and counts
 * so.
 * - A child of fork() has no blocks at first: it gives back its parent's without effect.
 * - A process that executes a program gives back all of its blocks.
 * - A block at whose address another one is allocated has ended, at an unknown time.
 * - A mapping can be given back in parts, each of which has its share of the bytes.
 * - Blocks whose end cannot be seen are allocated but never in use: so are those that find no room
 *   among LIVE_BLOCKS_MAX (live_blocks.h), which are counted.
 *
 * All functions take NULL for a recording without memory, and do nothing.
 */
#ifndef PROF_RECORD_MEMORY_H
#define PROF_RECORD_MEMORY_H

#include "perf/record.h"
#include "record/session.h"

struct memory;

/* Of the profile so far, by the samples' weights. */
struct memory_counts {
	uint64_t samples;	  /* of allocations … */
	uint64_t allocated_bytes; /* … and what they stand for, also if it is not in the profile yet
				   */
	uint64_t live_bytes;	  /* now, or at the end of their processes */
	uint64_t left_out;	  /* blocks that found no room */
};

/* Adds the four events to the session. Borrowed; its fold hook is taken. period_bytes: as asked
 * for.
 */
struct memory *memory_new(struct session *session, uint64_t period_bytes);
void memory_free(struct memory *memory);

/* Takes the next record, before the session does: RECORD_ALLOC and RECORD_FREE, and processes that
 * begin, execute a program and end. */
void memory_feed(struct memory *memory, const struct record *record);
/*
 * Adds the blocks that live now to the profile as allocated and in use. The profile ends with this:
 * it is followed by memory_begin_profile(), or done in a copy of this process.
 */
void memory_settle(struct memory *memory, uint64_t now_ns);
/*
 * The session has another profile, and `finished` is its former one, which was settled. Blocks that
 * live on can be in use in the new one; they are not allocated in it.
 */
void memory_begin_profile(struct memory *memory, const struct profile *finished);

struct memory_counts memory_counts(const struct memory *memory);

#endif
