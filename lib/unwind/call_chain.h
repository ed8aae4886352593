/* The result of unwinding a stack: the user half of a call chain. */
#ifndef PROF_UNWIND_CALL_CHAIN_H
#define PROF_UNWIND_CALL_CHAIN_H

#include "proc/module.h"

#include <stdbool.h>
#include <stdint.h>

/* Usual size of the frames array. */
enum { UNWIND_DEPTH_MAX = 1024 };

struct frame {
	module_id module;
	/* Offset of the pc. Look up offset - 1 if is_return_address is set. */
	uint64_t offset;
	/*
	 * False for the leaf and for a function that was interrupted by a
	 * signal.
	 */
	bool is_return_address;
	/*
	 * The stack pointer in this frame: the frame's memory reaches to that
	 * of the caller. 0 if it is unknown.
	 */
	uint64_t sp;
};

enum unwind_stop {
	UNWIND_ROOT,	  /* complete: the outermost frame was reached */
	UNWIND_TRUNCATED, /* the caller's frame lies beyond the copied stack */
	UNWIND_LOST,	  /* no rule and no plausible frame pointer, or an impossible step */
};

struct outer_walk;

struct call_chain {
	/*
	 * The thread's cached outer frames. The walk uses and updates them.
	 * NULL if the thread has no cache.
	 */
	struct outer_walk *outer;
	struct frame *frames; /* leaf first */
	unsigned room;	      /* at least 1 */
	unsigned count;	      /* at least 1 */
	/*
	 * Number of frames omitted before frames[gap] because `frames` was
	 * full. They are missing in the middle of the chain.
	 */
	uint64_t left_out;
	unsigned gap;
	/*
	 * Number of stack bytes needed, from the start of the copy. For a walk
	 * that reached the root, the bytes that it used. For a truncated walk,
	 * more bytes than were copied.
	 */
	uint64_t needed_bytes;
	/*
	 * Set if a signal handler runs on an alternate stack: the address at
	 * which the interrupted stack pointer is saved, and the end of the part
	 * of the interrupted stack that was needed. Both are 0 if there is no
	 * such stack or it is unknown. If they are set, needed_bytes is 0.
	 */
	uint64_t saved_sp_at, interrupted_end;
	/*
	 * True if the thread has switched from one Go stack to another
	 * (go_code.h) and the position on the other stack is needed. g_at is
	 * the address of a pointer to the thread's g, or 0 if g is in the
	 * leaf's register.
	 */
	bool needs_go;
	uint64_t g_at;
	/*
	 * A pc or a call address on the stack that no mapping contains, or 0.
	 */
	uint64_t unmapped_pc;
};

#endif
