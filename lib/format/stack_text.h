/*
 * Stacks as text, for formats that write each one whole: the text of a frame is made once, and what
 * a stack shares with the one before it, its outer callers most often, stays where it is.
 */
#ifndef PROF_FORMAT_STACK_TEXT_H
#define PROF_FORMAT_STACK_TEXT_H

#include "profile/profile.h"

#include <stddef.h>
#include <stdio.h>

enum stack_order { ROOT_FIRST, LEAF_FIRST };

struct stack_step {
	stack_id stack;
	size_t len; /* of the text of it and its callers */
};

struct stack_text {
	const struct profile *profile;
	enum stack_order order;
	char *frames;		  /* the texts of all frames … */
	size_t *first;		  /* … that of frame i from here to first[i + 1] */
	struct stack_step *steps; /* by depth: the present stack and its callers */
	uint32_t depth, step_room;
	char *text; /* of the present stack; LEAF_FIRST: it ends where the room does */
	size_t text_room;
};

/* Writes the text of a frame, all of its lines in that order. */
typedef void stack_text_frame(FILE *out, const void *context, frame_id frame);

/* Borrows the profile, which must not change. context is for put alone, which is called here. */
void stack_text_init(struct stack_text *stacks, const struct profile *profile,
		     enum stack_order order, stack_text_frame *put, const void *context);
void stack_text_deinit(struct stack_text *stacks);

/* The texts of a stack's frames behind each other. Valid until the next call. */
const char *stack_text_of(struct stack_text *stacks, stack_id id, size_t *len);

#endif
