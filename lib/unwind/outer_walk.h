/*
 * Caches the outer frames of a thread's stack from one walk for the thread's
 * next walks.
 *
 * Between two samples, most outer frames of a deep stack do not change; only
 * the inner functions return. If a walk reaches a frame with the stack pointer,
 * pc and frame pointer of a cached frame, the rest of the walk depends only on
 * the stack words that it would read. If all of these words are unchanged, so
 * are all frames, and the walk can stop. Every word is compared, because an
 * unchanged inner frame does not imply unchanged outer frames. This is much
 * faster than the walk, since the loads do not depend on each other. The code
 * that copies the stack can also compare the words (stack_slot.h) and then does
 * not copy the unchanged ones.
 *
 * Frames are cached from the root inwards, as long as the words of the stack,
 * sp and fp alone determine the caller (RULE_SP, RULE_FP) and the code's
 * mappings do not change. They are replaced when walks find too few of them.
 * The previous set is kept, too, because stacks that were compared with it may
 * still be unread.
 */
#ifndef PROF_UNWIND_OUTER_WALK_H
#define PROF_UNWIND_OUTER_WALK_H

#include "base/stack_slot.h"
#include "unwind/walk.h"

/* Maximum number of cached frames. Further inner frames are not cached. */
enum { OUTER_FRAMES_MAX = 8 << 10 };

#define OUTER_NO_STACK UINT32_MAX

struct outer_frame {
	struct frame frame;
	uint64_t sp, pc, fp; /* values of the walk in this frame; fp is 0 if unknown */
	bool needs_fp;	     /* an outer frame depends on fp, too */
	bool uses_fp;	     /* the step to the caller uses fp */
	/*
	 * The stack words that lead to the caller: the addresses of the return
	 * address and of the saved fp (0 if there is none), and the return
	 * address. The caller's fp is in the next frame.
	 */
	uint64_t ra_at, fp_at;
	uint64_t ra;
	unsigned slots; /* number of slots of all frames from the root to this one */
	/*
	 * For the user of the cache: the profile's stack of the frames up to
	 * this one.
	 */
	uint32_t stack;
};

struct outer_frames {
	uint64_t version; /* 0 if no frames are cached */
	uint64_t pc_mask;
	struct outer_frame *items; /* root first */
	unsigned count, room;
};

/* Initialize it with zeros. */
struct outer_walk {
	const struct arch *arch;
	pid_t pid;
	uint64_t mappings;	     /* version of the process's mappings */
	struct outer_frames kept[2]; /* newest first */
	uint64_t walked_again;	     /* frames that were walked again since these are cached */
	/*
	 * State of the current walk: the cached frames it compares with, and
	 * how many slots were found to be equal.
	 */
	struct outer_frames *used;
	unsigned equal_slots;
	/* Number of cached frames that the walk has reached. */
	unsigned taken;
	/*
	 * Number of cached frames that belong to the walk. After
	 * outer_walk_keep() this includes the frames that it has walked itself.
	 */
	unsigned shared;
	uint64_t pc_mask;
	bool is_at_root; /* the walk has reached the root */
	/*
	 * The next cached frame that the walk can reach, and the frames it has
	 * walked itself, leaf first.
	 */
	unsigned next;
	struct outer_frame *walked;
	unsigned walked_count, walked_room;
};

void outer_walk_deinit(struct outer_walk *outer);
void outer_walk_forget(struct outer_walk *outer);

/*
 * Call before the walk of a stack whose first equal_slots slots of that version
 * were found to be equal. Pass 0 if the copy of the stack is complete.
 */
void outer_walk_expect(struct outer_walk *outer, uint64_t version, unsigned equal_slots);

/* Returns true if the last walk's frames can be cached. */
bool outer_walk_may_keep(const struct outer_walk *outer);
/* Returns true if caching the last walk's frames is worthwhile. */
bool outer_walk_is_outdated(const struct outer_walk *outer);
/*
 * Caches the last walk's frames. Each call needs a different version, never 0.
 */
void outer_walk_keep(struct outer_walk *outer, uint64_t version);
/* Returns the slots of the cached frames. */
void outer_walk_slots(const struct outer_walk *outer, struct stack_slots *ret);

/* --- for the walk --- */

/* Starts a walk of the thread. */
void outer_walk_begin(struct outer_walk *outer, struct walk *walk);
/*
 * Returns true if all frames from this one to the root are cached. They are the
 * first outer->taken cached frames; this one is the last of them.
 */
bool outer_walk_meets(struct outer_walk *outer, const struct walk *walk);
/* Call these before and after the step from a frame. */
void outer_walk_enter(struct outer_walk *outer, const struct walk *walk);
void outer_walk_leave(struct outer_walk *outer, const struct walk *walk, const struct frame *frame);
/*
 * Call when the walk has reached the root. Otherwise its frames are not cached.
 */
void outer_walk_end(struct outer_walk *outer, const struct walk *walk);

#endif
