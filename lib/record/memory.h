/*
 * The part of a recorder that records memory: sampled allocations and the blocks that live, as the
 * events alloc_objects, alloc_space, inuse_objects and inuse_space, which follow each other in this
 * order.
 *
 * An allocation of S bytes is sampled with probability 1 − exp(−S / R), R being the mean number of
 * bytes between two samples; so it stands for S / (1 − exp(−S / R)) bytes, and for a S-th of that
 * as objects: sums are unbiased. What is rounded is carried to the next sample.
 *
 * A block is added to the profile when its end is seen, or when the profile is settled: only then
 * is known how long it lived. Its labels are those of its thread, and the classes of its size and
 * of its lifetime (profile/allocation_classes.h). What lives at the end is in use. Where timestamps
 * are kept, a block is an interval of the event alloc_space, from its allocation to its end, whose
 * weight is in bytes. A block of a process that has ended without giving it back was in use at its
 * end, and counts so. A child of fork() has no blocks at first, and a process that executes a
 * program loses those it had.
 *
 * All functions take NULL for a recording without memory, and do nothing.
 */
#ifndef PROF_RECORD_MEMORY_H
#define PROF_RECORD_MEMORY_H

#include "perf/record.h"
#include "record/session.h"

struct memory;

/* Adds the four events to the session. Borrowed. */
struct memory *memory_new(struct session *session);
void memory_free(struct memory *memory);

/* Takes the next record, before the session does: it cares for RECORD_ALLOC and RECORD_FREE, and
 * for processes that begin, execute a program and end. */
void memory_feed(struct memory *memory, const struct record *record);
/*
 * Adds the blocks that live now to the profile as in use. is_end: the profile ends here. Else their
 * allocation is added when they end, so it must be called for a copy of the profile that is thrown
 * away, or once.
 */
void memory_settle(struct memory *memory, uint64_t now_ns, bool is_end);
/* The session has another profile: blocks that live on are in use in it, but not allocated. */
void memory_begin_profile(struct memory *memory);

/* The bytes that live now, by the samples' weights; for a progress line. */
uint64_t memory_live_bytes(const struct memory *memory);

#endif
