/*
 * Slots of a stack: the words that lead from a thread's outer frames to their
 * callers, root first.
 *
 * The recorder knows them from an unwinding. The BPF program
 * (perf/stack_program.h) compares them with the stack when it takes a sample.
 * If they are unchanged, so are the frames, and that part of the stack is not
 * copied.
 */
#ifndef PROF_BASE_STACK_SLOT_H
#define PROF_BASE_STACK_SLOT_H

#include <stdint.h>

enum {
	/* Slots of one stack. Inner frames beyond them are copied. */
	STACK_SLOTS_MAX = 512,
	/*
	 * Threads with slots. If the ids of several threads are equal modulo
	 * this number, one of them has slots.
	 */
	STACK_SLOT_THREADS = 64,
	/* The amount of stack that is read at once: a power of two. */
	STACK_WINDOW_BYTES = 16 << 10,
};

struct stack_slot {
	uint64_t at, word; /* at: its address, below those of the preceding slots */
	/*
	 * If this is the last unchanged slot, the stack is needed up to this
	 * address. 0 means the whole stack.
	 */
	uint64_t needed_end;
	/*
	 * Slots are read together, from the window that starts `offset` bytes
	 * (a multiple of 8) below each of them. The first slot of a window has
	 * its length, the others have 0.
	 */
	uint32_t window_bytes, offset;
};

/* All slots of a thread, which are replaced together. */
struct stack_slots {
	uint64_t version; /* unique among all threads, never 0 */
	unsigned count;	  /* 0 means nothing is known any more */
	struct stack_slot items[STACK_SLOTS_MAX];
};

#endif
