/*
 * Unwinds the stacks of samples and adds them to a profile, root first: the
 * user frames, then the kernel frames.
 *
 * User frames come from the registers and the copied stack, else from the
 * kernel's frame-pointer walk, else the pc is the only frame. A stack that does
 * not reach its root starts with [truncated]. Frames of the preloaded agent are
 * removed (own_frames.h).
 *
 * Memory is bounded even if a program produces new stacks all the time, as with
 * random recursion. When the profile has `ceiling` stacks (default 8 million),
 * a process that has added more than 1/64 of them adds no more long stacks. Of
 * a new stack, only the known part and the leaf are kept, with [frames left
 * out] between them. At twice the ceiling this applies to all processes.
 */
#ifndef PROF_RECORD_SAMPLE_STACKS_H
#define PROF_RECORD_SAMPLE_STACKS_H

#include "perf/record.h"
#include "proc/address_spaces.h"
#include "profile/profile.h"
#include "record/fresh_maps.h"
#include "record/script_runtimes.h"
#include "record/session_counts.h"
#include "unwind/unwind.h"

struct sample_stacks;

/* All pointers are borrowed. arch describes the registers, except those of
 * 32-bit processes. */
struct sample_stacks *sample_stacks_new(struct address_spaces *spaces, struct unwinder *unwinder,
					const struct arch *arch, struct session_counts *counts);
void sample_stacks_free(struct sample_stacks *stacks);

/* Omits the middle of stacks with more frames than this (default
 * UNWIND_DEPTH_MAX). Must be at least 1. */
void sample_stacks_set_depth(struct sample_stacks *stacks, unsigned frames);
void sample_stacks_set_ceiling(struct sample_stacks *stacks, uint32_t count);

/* Sets where to look up a pc that is in no known mapping. If the pc is found,
 * the stack is unwound again. Borrowed. */
void sample_stacks_set_fresh_maps(struct sample_stacks *stacks, struct fresh_maps *fresh);

/* Shows the functions of scripts that copiers have read. Both are borrowed. */
void sample_stacks_set_scripts(struct sample_stacks *stacks, struct script_runtimes *runtimes,
			       struct scripts *scripts);

/* Whether the user part of a sample's call chain is in another record. */
bool sample_lacks_user_part(const struct record_sample *sample);

/*
 * Returns the stack of a sample in the profile. *extent is the extent of the
 * thread's stack. If the copier's copy was too small, its end is a guess above
 * the copy. All calls must use the same profile or one that follows it
 * (profile_follow()).
 */
stack_id sample_stacks_add(struct sample_stacks *stacks, struct profile *profile,
			   const struct record *record, struct stack_extent *extent);

/*
 * Returns a stack of two frames for a taken branch of the sample: the branch
 * instruction and its target. At the ceiling, a synthetic frame replaces new
 * ones.
 */
stack_id sample_stacks_add_branch(struct sample_stacks *stacks, struct profile *profile,
				  const struct record *record, uint64_t from, uint64_t to);

#endif
