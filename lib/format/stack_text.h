/*
 * Stacks as text, for formats that write each stack in full. The text of each
 * frame is made once. The part that a stack shares with the previous one
 * (usually its outer callers) stays in the buffer.
 */
#ifndef PROF_FORMAT_STACK_TEXT_H
#define PROF_FORMAT_STACK_TEXT_H

#include "profile/profile.h"

#include <stddef.h>
#include <stdio.h>

enum stack_order { ROOT_FIRST, LEAF_FIRST };

struct stack_step {
	stack_id stack;
	size_t len; /* of the text of this stack and its callers */
};

struct stack_text {
	struct profile_stacks all; /* of the profile */
	enum stack_order order;
	char *frames;		  /* the texts of all frames, concatenated */
	size_t *first;		  /* frame i's text is from first[i] to first[i + 1] */
	struct stack_step *steps; /* by depth: the current stack and its callers */
	uint32_t depth, step_room;
	char *text; /* of the current stack; with LEAF_FIRST at the end of the buffer */
	size_t text_room;
};

/*
 * Writes the text of a frame: all of its lines, including inlined functions, in
 * the stack's order.
 */
typedef void stack_text_frame(FILE *out, const void *context, frame_id frame);

/*
 * Borrows the profile, which must not change. Calls put for each frame, with
 * context.
 */
void stack_text_init(struct stack_text *stacks, const struct profile *profile,
		     enum stack_order order, stack_text_frame *put, const void *context);
void stack_text_deinit(struct stack_text *stacks);

/*
 * Returns the concatenated texts of a stack's frames, valid until the next
 * call.
 */
const char *stack_text_of(struct stack_text *stacks, stack_id id, size_t *len);

#endif
