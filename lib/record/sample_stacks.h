/*
 * Stacks of samples: unwinds what a sample copied of its thread, and finds or adds the stack of its
 * frames in a profile, root first: the user part, then the kernel's.
 *
 * A user part is found by registers and the copied stack, else by the kernel's walk along frame
 * pointers, else it is the pc alone. Where it does not reach its root, the stack begins with
 * [truncated]. Frames of libprof-inside.so are left out (own_frames.h).
 *
 * Memory is bounded when a program makes ever new stacks, as by random recursion. When the profile
 * has `ceiling` stacks (default 8 million), a process that has added more than a 64th of them adds
 * no long ones any more: of a new stack it keeps the part that is known, and the leaf, with
 * [frames left out] between them. At twice as many this is so for all processes.
 */
#ifndef PROF_RECORD_SAMPLE_STACKS_H
#define PROF_RECORD_SAMPLE_STACKS_H

#include "base/arena.h"
#include "perf/record.h"
#include "proc/address_spaces.h"
#include "profile/profile.h"
#include "record/fresh_maps.h"
#include "unwind/unwind.h"

/* Of the stacks since the counts were set to 0. */
struct stack_counts {
	uint64_t truncated;   /* got [truncated] as their root */
	uint64_t deep;	      /* larger than what the kernel copied of them … */
	uint64_t completed;   /* … and complete all the same */
	uint64_t spliced;     /* frame pointers reached their root, after CFI did not */
	uint64_t user_stacks; /* of samples that had a user stack to unwind */
	uint64_t compat;      /* of 32-bit processes */
	uint64_t shortened;   /* without their middle, at the ceiling */
	uint64_t chainless;   /* truncated: the record of their user part did not come */
};

struct sample_stacks;

/* All are borrowed. arch: of registers that are not those of 32-bit processes. */
struct sample_stacks *sample_stacks_new(struct address_spaces *spaces, struct unwinder *unwinder,
					const struct arch *arch, struct stack_counts *counts);
void sample_stacks_free(struct sample_stacks *stacks);

/* Leaves out the middle of stacks with more frames (default UNWIND_DEPTH_MAX). At least 1. */
void sample_stacks_set_depth(struct sample_stacks *stacks, unsigned frames);
void sample_stacks_set_ceiling(struct sample_stacks *stacks, uint32_t count);

/*
 * Where a pc of a stack is in no known mapping, it is looked up by fresh_maps, and the stack is
 * unwound again if that has found the pc. Borrowed.
 */
void sample_stacks_set_fresh_maps(struct sample_stacks *stacks, struct fresh_maps *fresh);

/* Whether the user part of a sample's call chain comes in another record. */
bool sample_lacks_user_part(const struct record_sample *sample);

/*
 * The stack of a sample of the profile. *extent is that of the thread's stack; if a copier's copy
 * was not enough, its end is a guess above the copy. It is the same profile in all calls, until …
 */
stack_id sample_stacks_add(struct sample_stacks *stacks, struct profile *profile,
			   const struct record *record, struct stack_extent *extent);

/* A stack that was found before it is added. */
struct found_stack {
	bool is_found;
	bool is_user;		  /* it was unwound */
	uint64_t end;		  /* of the thread's stack; 0: unknown */
	stack_id stack;		  /* what the profile has of it, from the root on */
	const struct frame *left; /* what it has not: user frames, leaf first … */
	unsigned left_count;
	size_t kernel_left; /* … and so many of the kernel's */
};
/*
 * Finds the stack of a sample as far as that changes nothing: several threads may do so at once
 * while none does anything else. left: allocated in the arena. Not found are stacks that cannot be
 * walked by what earlier samples have left in the caches (unwinder_walk_known()), and those that
 * copiers have completed.
 */
void sample_stacks_find(const struct sample_stacks *stacks, const struct profile *profile,
			const struct record *record, struct arena *arena, struct found_stack *ret);
/* As sample_stacks_add(), of one that was found. */
stack_id sample_stacks_add_found(struct sample_stacks *stacks, struct profile *profile,
				 const struct record *record, const struct found_stack *found,
				 struct stack_extent *extent);

/*
 * A taken branch of the sample as a stack of two frames, the instruction that branches and the one
 * that it goes to. At the ceiling, new ones are a synthetic frame.
 */
stack_id sample_stacks_add_branch(struct sample_stacks *stacks, struct profile *profile,
				  const struct record *record, uint64_t from, uint64_t to);
/* … the profile is another one, or processes have become others in it. */
void sample_stacks_forget_processes(struct sample_stacks *stacks);

#endif
