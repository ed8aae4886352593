/*
 * The frames of an interpreted program on one thread's stack, as they were read
 * while the thread stood still.
 */
#ifndef PROF_RUNTIME_SCRIPT_STACK_H
#define PROF_RUNTIME_SCRIPT_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCRIPT_NO_CODE UINT32_MAX

/* Longer stacks are not read. */
enum { SCRIPT_FRAMES_MAX = 1024 };

/*
 * A frame of the script, or an entry: the boundary between the frames that one
 * call of the interpreter's loop runs and those of the call outside of it.
 */
struct script_frame {
	bool is_entry;
	/* For a frame: the code (scripts_code()), and the number of the
	 * instruction in it, or a negative one if it is unknown. */
	uint32_t code;
	int32_t unit;
	/*
	 * For an entry: the address of the loop's own record, which is in the C
	 * stack frame of that call, and one of its words.
	 */
	uint64_t at, word_at, word;
};

struct script_stack {
	struct script_frame *frames; /* innermost first */
	unsigned count, room;
	/* The function that the holder of the interpreter's lock runs
	 * (script_walker_holder()), or SCRIPT_NO_CODE. */
	uint32_t holders_code;
};

#endif
