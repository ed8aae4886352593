/*
 * Copied stacks on their way from a copier to the reader: a fixed number of buffers, each owned by
 * one of the two threads. No lock is needed: only the owner touches a buffer.
 */
#ifndef PROF_PERF_CAPTURED_STACKS_H
#define PROF_PERF_CAPTURED_STACKS_H

#include "perf/record.h"

#include <stdatomic.h>
#include <stddef.h>

enum { CAPTURED_STACKS = 64 };

struct captured_stack {
	atomic_int owner; /* 0: the copier, 1: the reader */
	pid_t tid;	  /* with time_ns: which sample it is of */
	uint64_t time_ns;
	size_t len, room;
	/* From the stack pointer on. What the kernel has copied is missing, but for its end, which
	 * is copied again for comparison. */
	unsigned char *memory;
	/* Likewise of the stack that a signal handler has interrupted; interrupted_len 0: none. */
	uint64_t interrupted_start;
	size_t interrupted_len, interrupted_room;
	unsigned char *interrupted;
	struct go_sched go; /* sp 0: the other stack is none of a goroutine */
};

/* Zeroed: empty. */
struct captured_stacks {
	struct captured_stack items[CAPTURED_STACKS];
};

void captured_stacks_deinit(struct captured_stacks *stacks);

/* --- for the copier --- */

/* A buffer to fill; NULL while the reader owns all. */
struct captured_stack *captured_stacks_next(struct captured_stacks *stacks);
/* Makes room for a stack of which the kernel has copied dumped_bytes; returns the offset from which
 * on to copy. */
size_t captured_stack_prepare(struct captured_stack *stack, size_t bytes, size_t dumped_bytes);
/* Makes room for the interrupted stack. */
void captured_stack_prepare_interrupted(struct captured_stack *stack, size_t bytes);
/* Passes a filled buffer to the reader. */
void captured_stack_publish(struct captured_stack *stack);

/* --- for the reader --- */

/* The buffer of this sample, whose stack it completes; NULL: there is none, or it is of another
 * stack. Samples must come in order: buffers of earlier ones go back to the copier. */
struct captured_stack *captured_stacks_take(struct captured_stacks *stacks,
					    const struct record *sample);
/* Gives a buffer back to the copier. */
void captured_stack_release(struct captured_stack *stack);

#endif
