/*
 * Slots of a stack: the words that lead from a thread's outer frames to their callers, root first.
 *
 * The recorder knows them from a walk; the kernel's program (perf/stack_program.h) compares them
 * with the stack when it takes a sample. Where they are the same, so are the frames, and that part
 * of the stack is not copied.
 */
#ifndef PROF_BASE_STACK_SLOT_H
#define PROF_BASE_STACK_SLOT_H

#include <stdint.h>

enum {
	/* Of one stack; inner frames beyond them are copied. */
	STACK_SLOTS_MAX = 512,
	/* Threads with slots; of those whose ids are the same modulo this, one has slots. */
	STACK_SLOT_THREADS = 64,
	/* What is read of a stack at once: a power of two. */
	STACK_WINDOW_BYTES = 16 << 10,
};

struct stack_slot {
	uint64_t at, word; /* at: its address, below those of the slots before */
	/* If this is the last slot whose words are the same, the stack is needed up to here; 0: all
	 * of it. */
	uint64_t needed_end;
	/* Slots are read together, from the window that begins `offset`, a multiple of 8, below
	 * each of them. Its length, of the first of them; of others 0. */
	uint32_t window_bytes, offset;
};

/* All of a thread, replaced together. */
struct stack_slots {
	uint64_t version; /* of all threads another number, never 0 */
	unsigned count;	  /* 0: nothing is known any more */
	struct stack_slot items[STACK_SLOTS_MAX];
};

#endif
