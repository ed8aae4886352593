/*
 * How large the stacks of sampled threads were, so that a copier knows how much to copy.
 *
 * A table of fixed size, by thread; threads whose ids collide replace each other. One thread (the
 * reader) notes extents, copiers read them at the same time: what they find may be a mixture of two
 * threads, and then too much or too little is copied.
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
	atomic_bool needs_go;				     /* it has done so */
	/* Rises with each sample whose stack ends elsewhere than the one before, falls with each
	 * other one. Above a threshold the thread switches stacks, as threads of Go do. */
	atomic_int unrest;
};

/* Zeroed: nothing is known. */
struct stack_extents {
	struct known_extent items[STACK_EXTENTS];
};

void stack_extents_note(struct stack_extents *extents, pid_t tid, struct stack_extent extent);

/*
 * How many bytes from the stack pointer on are worth copying; 0: no more than the dumped_bytes that
 * the kernel has copied. The bound is not exact: a copy ends at a page that is not in memory, too.
 */
size_t stack_extents_wanted(const struct stack_extents *extents, pid_t tid, uint64_t sp,
			    size_t dumped_bytes);

/*
 * Where the stack pointer is saved that a signal handler has interrupted, if a thread with this
 * stack pointer can be in the handler; else 0.
 */
uint64_t stack_extents_saved_sp_at(const struct stack_extents *extents, pid_t tid, uint64_t sp);
/*
 * Whether a thread has run Go on its system stack, and where a pointer to its g may be then: at
 * *g_at, unless that is 0.
 */
bool stack_extents_need_go(const struct stack_extents *extents, pid_t tid, uint64_t sp,
			   uint64_t *g_at);
/* How many bytes of the interrupted stack, or of the goroutine's, are worth copying. */
size_t stack_extents_interrupted(const struct stack_extents *extents, pid_t tid, uint64_t sp);

#endif
