/*
 * The user half of a call chain, as a walk up a stack finds it.
 */
#ifndef PROF_UNWIND_CALL_CHAIN_H
#define PROF_UNWIND_CALL_CHAIN_H

#include "proc/module.h"

#include <stdbool.h>
#include <stdint.h>

/* Usual room for the frames of a walk. */
enum { UNWIND_DEPTH_MAX = 1024 };

struct frame {
	module_id module;
	uint64_t offset;	/* of the pc; look it up at offset - 1 if is_return_address */
	bool is_return_address; /* false for the leaf and for a function that a signal interrupted
				 */
};

enum unwind_stop {
	UNWIND_ROOT,	  /* the outermost frame: complete */
	UNWIND_TRUNCATED, /* the caller's frame lies beyond the copied stack */
	UNWIND_LOST,	  /* no rule and no plausible frame pointer, or an impossible step */
};

struct outer_walk;

/* The result of a walk. */
struct call_chain {
	struct outer_walk *outer; /* of the thread: is used and renewed; NULL: it is not kept */
	struct frame *frames;	  /* leaf first */
	unsigned room;		  /* at least 1 */
	unsigned count;		  /* at least 1 */
	/*
	 * Number of frames left out of the middle, before frames[gap], because there was no room.
	 */
	uint64_t left_out;
	unsigned gap;
	/*
	 * How much of the stack was needed, from the start of its copy: for a walk that reached
	 * the root what it used, for a truncated one more than there was.
	 */
	uint64_t needed_bytes;
	/*
	 * A signal handler runs on a stack of its own: where the interrupted stack pointer is
	 * saved, and up to which address the interrupted stack was needed, as needed_bytes. 0:
	 * none, unknown. needed_bytes is 0 then.
	 */
	uint64_t saved_sp_at, interrupted_end;
	/*
	 * The thread left one of Go's stacks for another (go_code.h) and needs to know where. g_at:
	 * the address of a pointer to its g; 0: it is in the register of the leaf.
	 */
	bool needs_go;
	uint64_t g_at;
	/* A pc or the address of a call that was met and is in no mapping; 0: there was none. */
	uint64_t unmapped_pc;
};

#endif
