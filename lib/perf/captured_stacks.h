/*
 * Passes copied stacks from a copier to the reader in a fixed number of
 * buffers. Each buffer is owned by one of the two threads. Only the owner
 * touches it, so no lock is needed.
 */
#ifndef PROF_PERF_CAPTURED_STACKS_H
#define PROF_PERF_CAPTURED_STACKS_H

#include "perf/record.h"

#include <stdatomic.h>
#include <stddef.h>

enum {
	CAPTURED_STACKS = 64,
	/* A thread that runs on changes the innermost part of its stack. */
	INNER_BYTES = 4 << 10,
};

struct captured_stack {
	atomic_int owner; /* 0 for the copier, 1 for the reader */
	pid_t tid;	  /* identifies the sample together with time_ns */
	uint64_t time_ns;
	size_t len, room;
	/* Starts at the stack pointer. The part that the kernel has copied is
	 * missing except for its end, which is copied again for comparison. */
	unsigned char *memory;
	/* The stack that a signal handler has interrupted, likewise;
	 * interrupted_len is 0 if there is none. */
	uint64_t interrupted_start;
	size_t interrupted_len, interrupted_room;
	unsigned char *interrupted;
	/* Sp is 0 if the interrupted stack is not a goroutine's. */
	struct go_sched go;
	/* The frames of the thread's interpreter, if has_script is set. Then the
	 * part that the kernel has copied is not missing, and from inner_from
	 * on, its innermost INNER_BYTES must be unchanged, too. */
	bool has_script;
	struct script_stack script;
	size_t inner_from;
};

/* Zeroed: empty. */
struct captured_stacks {
	struct captured_stack items[CAPTURED_STACKS];
};

void captured_stacks_deinit(struct captured_stacks *stacks);

/* --- Functions for the copier. --- */

/* Returns a buffer to fill, or NULL while the reader owns all of them. */
struct captured_stack *captured_stacks_next(struct captured_stacks *stacks);
/* Makes room for a stack of which the first dumped_bytes are not needed. Returns
 * the offset at which the copier starts to copy. */
size_t captured_stack_prepare(struct captured_stack *stack, size_t bytes, size_t dumped_bytes);
/* Makes room for the interrupted stack. */
void captured_stack_prepare_interrupted(struct captured_stack *stack, size_t bytes);
/*
 * Lets the part of the stack that starts at sp differ that belongs to callees of
 * the interpreter's loop: the kernel writes results of system calls there. The
 * loop's own frame must still be unchanged from its record on.
 */
void captured_stack_skip_callees(struct captured_stack *stack, uint64_t sp);
/* Passes a filled buffer to the reader. */
void captured_stack_publish(struct captured_stack *stack);

/* --- Functions for the reader. --- */

/* Returns the buffer that completes the stack of this sample, or NULL if there
 * is none or it belongs to another stack. Samples must come in order: buffers
 * of earlier samples return to the copier. */
struct captured_stack *captured_stacks_take(struct captured_stacks *stacks,
					    const struct record *sample);
/* Returns a buffer to the copier. */
void captured_stack_release(struct captured_stack *stack);

#endif
