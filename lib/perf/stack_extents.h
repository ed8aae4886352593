/*
 * Stores the extents of sampled threads' stacks, so that copiers know how much
 * to copy.
 *
 * The table has a fixed size and is indexed by thread; threads whose ids
 * collide replace each other. The reader thread writes while copiers read. A
 * copier can read a mixture of two threads, and then copies too much or too
 * little.
 */
#ifndef PROF_PERF_STACK_EXTENTS_H
#define PROF_PERF_STACK_EXTENTS_H

#include "perf/record.h"

#include <stdatomic.h>
#include <stddef.h>

enum { STACK_EXTENTS = 1024 };

struct known_extent {
	atomic_int tid;
	_Atomic uint64_t end;
	atomic_bool is_whole, is_deep;
	_Atomic uint64_t saved_sp_at, interrupted_end, g_at; /* as in stack_extent */
	/* The thread has run Go on its system stack. */
	atomic_bool needs_go;
	/* Stack-switch score: rises with each sample whose stack ends elsewhere
	 * than that of the previous sample, and falls with each other sample.
	 * Above a threshold the thread is taken to switch stacks, as Go threads
	 * do. */
	atomic_int switch_score;
};

/* Zeroed: no known extents. */
struct stack_extents {
	/* Copy nothing for an unknown thread. */
	bool skips_unknown;
	struct known_extent items[STACK_EXTENTS];
};

void stack_extents_note(struct stack_extents *extents, pid_t tid, struct stack_extent extent);

/*
 * Returns how many bytes to copy from the stack pointer on, or 0 if the
 * dumped_bytes that the kernel has copied suffice. The bound is not exact,
 * because a copy also ends at a page that is not in memory.
 */
size_t stack_extents_wanted(const struct stack_extents *extents, pid_t tid, uint64_t sp,
			    size_t dumped_bytes);

/*
 * Returns the address where the interrupted stack pointer is saved, if a thread
 * with this stack pointer can be in a signal handler; otherwise 0.
 */
uint64_t stack_extents_saved_sp_at(const struct stack_extents *extents, pid_t tid, uint64_t sp);
/*
 * Returns whether the thread has run Go on its system stack. A pointer to its g
 * may be at *g_at, unless that is 0.
 */
bool stack_extents_need_go(const struct stack_extents *extents, pid_t tid, uint64_t sp,
			   uint64_t *g_at);
/* Returns how many bytes of the interrupted stack, or of the goroutine's, to
 * copy. */
size_t stack_extents_interrupted(const struct stack_extents *extents, pid_t tid, uint64_t sp);

#endif
