/*
 * The outer frames of a thread's stack, as one of its walks has found them, for its next walks.
 *
 * Of a deep stack most is as it was: only the inner functions have returned. Where a walk comes to
 * a frame with the stack pointer, pc and frame pointer of an earlier one, the rest of the walk
 * follows from the words that it reads from there on: if all of them are the same, so are all
 * frames, and none has to be walked. The words are compared, each of them: an inner frame that has
 * not changed says nothing of the outer ones. Loads that do not depend on each other take a
 * fraction of the walk's time. Or who copied the stack has compared them (stack_slot.h), and has
 * not copied what is the same.
 *
 * Frames are kept from the root on, as far as the stack's words, sp and fp alone lead from each to
 * its caller (RULE_SP, RULE_FP), and while their code is mapped where it was. They are kept until
 * walks have met too few of them, and those before them, too, because stacks that were compared
 * with them may not be read yet.
 */
#ifndef PROF_UNWIND_OUTER_WALK_H
#define PROF_UNWIND_OUTER_WALK_H

#include "base/stack_slot.h"
#include "unwind/walk.h"

/* More inner frames are not kept. */
enum { OUTER_FRAMES_MAX = 8 << 10 };

#define OUTER_NO_STACK UINT32_MAX

struct outer_frame {
	struct frame frame;
	uint64_t sp, pc, fp; /* of the walk in it; fp 0: not known */
	bool needs_fp;	     /* the rest of the walk follows from fp, too */
	bool uses_fp;	     /* the step from it does */
	/* The words that lead to the caller: the addresses, 0: none, and the return address. The
	 * other is the caller's fp. */
	uint64_t ra_at, fp_at;
	uint64_t ra;
	unsigned slots; /* of all frames from the root to this one */
	uint32_t stack; /* the user's: what the frames to this one are in a profile */
};

struct outer_frames {
	uint64_t version; /* 0: none are kept */
	uint64_t pc_mask;
	struct outer_frame *items; /* the root first */
	unsigned count, room;
};

/* Zeroed: nothing is known. */
struct outer_walk {
	const struct arch *arch;
	pid_t pid;
	uint64_t mappings;	     /* their version */
	struct outer_frames kept[2]; /* the newer first */
	uint64_t walked_again;	     /* frames that walks had to walk since these are kept */
	/* Of a walk: what it compares with, and how much of that was found to be the same. */
	struct outer_frames *used;
	unsigned equal_slots;
	unsigned taken;	 /* frames of them that it has met … */
	unsigned shared; /* … and all that are its own, too */
	uint64_t pc_mask;
	bool is_at_root; /* it has reached the root */
	/* Those that may still be met, and its own frames, leaf first. */
	unsigned next;
	struct outer_frame *walked;
	unsigned walked_count, walked_room;
};

void outer_walk_deinit(struct outer_walk *outer);
void outer_walk_forget(struct outer_walk *outer);

/* Before the walk of a stack: as many slots of that version have been found to be the same. 0: the
 * stack's copy is whole. */
void outer_walk_expect(struct outer_walk *outer, uint64_t version, unsigned equal_slots);

/* Whether the last walk's frames can be kept. */
bool outer_walk_may_keep(const struct outer_walk *outer);
/* Whether that pays. */
bool outer_walk_is_outdated(const struct outer_walk *outer);
/* Keeps them: the version must be another number for each, never 0. */
void outer_walk_keep(struct outer_walk *outer, uint64_t version);
/* The slots of the frames that are kept. */
void outer_walk_slots(const struct outer_walk *outer, struct stack_slots *ret);

/* --- for the walk --- */

/* Begins a walk of the thread. */
void outer_walk_begin(struct outer_walk *outer, struct walk *walk);
/* Whether all frames from this one on are known: the first outer->taken, of which it is the last.
 */
bool outer_walk_meets(struct outer_walk *outer, const struct walk *walk);
/* Before and after the step from a frame. */
void outer_walk_enter(struct outer_walk *outer, const struct walk *walk);
void outer_walk_leave(struct outer_walk *outer, const struct walk *walk, const struct frame *frame);
/* The walk has reached the root; else its frames are not kept. */
void outer_walk_end(struct outer_walk *outer, const struct walk *walk);

#endif
