/*
 * The frames of one thread of an interpreter while they are read: what a
 * runtime (runtime.h) fills and script_walker.h turns into a script_stack.
 */
#ifndef PROF_RUNTIME_SCRIPT_WALK_H
#define PROF_RUNTIME_SCRIPT_WALK_H

#include "runtime/script_reader.h"
#include "runtime/script_stack.h"

#include <stddef.h>

enum {
	/* Stacks with more distinct functions are not read. */
	SCRIPT_CODES_MAX = 256,
	SCRIPT_SCRATCH_BYTES = 32 << 10,
};

/* A code object on the stack. */
struct script_code {
	uint64_t address;
	/* A hash of everything that identifies the code: at one address,
	 * another code has another key. */
	uint64_t key;
	uint32_t frame_bytes; /* size of its frames, or 0 if unknown */
	uint32_t id;	      /* as in struct script_frame */
	uint64_t file, name, lines;
	uint32_t first_line;
};

struct script_raw_frame {
	struct script_frame frame;
	uint64_t at;	 /* its address */
	bool is_stacked; /* lies on the thread's own stack of frames */
	uint16_t code;	 /* index into the codes */
};

struct script_walk {
	struct script_reader reader;
	struct script_raw_frame frames[SCRIPT_FRAMES_MAX]; /* innermost first */
	unsigned count;
	struct script_code codes[SCRIPT_CODES_MAX];
	unsigned code_count;
	uint16_t slots[4 * SCRIPT_CODES_MAX]; /* hash table: index + 1 */
	/* For the runtime. */
	_Alignas(max_align_t) unsigned char scratch[SCRIPT_SCRATCH_BYTES];
};

/* These return false if there are too many. */
bool script_walk_add_frame(struct script_walk *walk, const struct script_raw_frame *frame,
			   uint64_t code);
bool script_walk_add_entry(struct script_walk *walk, const struct script_frame *entry);

/* The text of a code object, which outlives the process. */
struct script_text {
	char *name, *file; /* UTF-8 */
	uint32_t first_line;
	unsigned char *lines; /* in the runtime's own form */
	uint32_t line_bytes;
};

#endif
