/*
 * The outer frames of a thread's stack, as its last walk has found them, for its next walk.
 *
 * Of a deep stack most is as it was: only the inner functions have returned. Where a walk comes to
 * a frame with the stack pointer, pc and frame pointer of an earlier one, the rest of the walk
 * follows from the words that it reads from there on: if all of them are the same, so are all
 * frames, and none has to be walked. The words are compared, each of them: an inner frame that has
 * not changed says nothing of the outer ones. Loads that do not depend on each other take a
 * fraction of the walk's time.
 *
 * Frames are kept from the root on, as far as the stack's words, sp and fp alone lead from each to
 * its caller (RULE_SP, RULE_FP), and while the process's mappings are the same.
 */
#ifndef PROF_UNWIND_OUTER_WALK_H
#define PROF_UNWIND_OUTER_WALK_H

#include "unwind/walk.h"

/* More inner frames are not kept. */
enum { OUTER_FRAMES_MAX = 8 << 10 };

struct outer_frame {
	struct frame frame;
	uint64_t sp, pc, fp; /* of the walk in it; fp 0: not known */
	/* The words that lead to the caller: the addresses, 0: none, and the return address. The
	 * other is the caller's fp. */
	uint64_t ra_at, fp_at;
	uint64_t ra;
};

/* Zeroed: nothing is known. */
struct outer_walk {
	const struct arch *arch;
	pid_t pid;
	uint64_t version; /* of the process's mappings */
	uint64_t pc_mask;
	struct outer_frame *frames; /* the root first */
	unsigned count, room;
	unsigned taken;	    /* of them, by the last walk */
	bool is_of_last;    /* they are those of the last walk, which has reached the root */
	unsigned unchanged; /* at most as many as the caller has set, are still the same */
	/* Of a walk: those that may still be met, and its own frames, leaf first. */
	unsigned next;
	struct outer_frame *walked;
	unsigned walked_count, walked_room;
};

void outer_walk_deinit(struct outer_walk *outer);

/* Begins a walk of the thread. */
void outer_walk_begin(struct outer_walk *outer, const struct walk *walk);
/* Whether all frames from this one on are known: the first outer->taken, of which it is the last.
 */
bool outer_walk_meets(struct outer_walk *outer, const struct walk *walk);
/* Before and after the step from a frame. */
void outer_walk_enter(struct outer_walk *outer, const struct walk *walk);
void outer_walk_leave(struct outer_walk *outer, const struct walk *walk, const struct frame *frame);
/* The walk has reached the root; else its frames are not kept. */
void outer_walk_end(struct outer_walk *outer, const struct walk *walk);

#endif
