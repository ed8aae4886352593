/*
 * Finds the places of an interpreter's frames in a native stack.
 *
 * Each call of the interpreter's loop has a record in its C stack frame. The
 * native frame that contains the record is that call, and the frames of the
 * script between this record and the next inner one are called by it. Frames
 * are never counted to find their places. If anything does not fit, no frame is
 * placed.
 */
#ifndef PROF_RECORD_SCRIPT_MERGE_H
#define PROF_RECORD_SCRIPT_MERGE_H

#include "record/script_runtimes.h"
#include "unwind/unwind.h"

enum script_merge_result {
	SCRIPT_MERGE_NONE, /* the thread does not run an interpreter */
	SCRIPT_MERGE_DONE,
	SCRIPT_MERGE_UNKNOWN, /* the frames are unknown or do not fit */
};

/* The frames [first, end) of the script, innermost first, which the native
 * frame calls. */
struct script_part {
	/* Index into the chain, or its count for a frame that was not unwound. */
	unsigned native;
	unsigned first, end;
};

struct script_merge {
	struct script_part parts[SCRIPT_FRAMES_MAX]; /* innermost first */
	unsigned count;
	/* For SCRIPT_MERGE_UNKNOWN: the innermost call of the loop. */
	unsigned loop;
};

/* A stack that was unwound. */
struct script_native {
	const struct script_runtimes *runtimes;
	const struct unwinder *unwinder;
	const struct call_chain *chain;
	bool is_whole;
	uint64_t sp;	    /* stack pointer of the sample */
	struct bytes stack; /* the copied stack */
};

enum script_merge_result script_merge(const struct script_native *native,
				      const struct script_stack *script, struct script_merge *ret);

#endif
