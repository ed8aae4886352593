#include "format/stack_text.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void stack_text_init(struct stack_text *stacks, const struct profile *profile,
		     enum stack_order order, stack_text_frame *put, const void *context)
{
	uint32_t count = profile_frame_count(profile);
	size_t len;
	FILE *out;

	*stacks = (struct stack_text){.all = profile_stacks(profile), .order = order};
	stacks->first = xcalloc((size_t)count + 1, sizeof(*stacks->first));
	out = open_memstream(&stacks->frames, &len);
	for (frame_id i = 0; i < count; i++) {
		put(out, context, i);
		stacks->first[i + 1] = (size_t)ftello(out);
	}
	fclose(out);
	/* steps[0] is the empty stack, whose text is empty. */
	stacks->steps = xcalloc(stacks->step_room = 64, sizeof(*stacks->steps));
	stacks->text = xmalloc(stacks->text_room = 4096);
}

void stack_text_deinit(struct stack_text *stacks)
{
	free(stacks->frames);
	free(stacks->first);
	free(stacks->steps);
	free(stacks->text);
	*stacks = (struct stack_text){0};
}

/*
 * Fills in the steps of a stack and its callers, up to the first one shared
 * with the previous stack. Returns the depth of that one.
 */
static uint32_t find_steps(struct stack_text *stacks, stack_id id)
{
	uint32_t last = stacks->depth, depth = stacks->all.items[id].depth;

	if (stacks->step_room <= depth) {
		stacks->step_room = depth * 2;
		stacks->steps = xreallocarray(stacks->steps, stacks->step_room,
					      sizeof(*stacks->steps));
	}
	stacks->depth = depth;
	for (; depth > last || stacks->steps[depth].stack != id; depth--) {
		stacks->steps[depth].stack = id;
		id = stacks->all.items[id].parent;
	}
	return depth;
}

static void stack_text_make_room(struct stack_text *stacks, size_t used, size_t more)
{
	size_t old_room = stacks->text_room;

	if (old_room - used >= more)
		return;
	stacks->text_room = (old_room + more) * 2;
	stacks->text = xreallocarray(stacks->text, stacks->text_room, 1);
	if (stacks->order == LEAF_FIRST)
		memmove(stacks->text + stacks->text_room - used, stacks->text + old_room - used,
			used);
}

/* Adds a frame's text after that of its callers, or before it (LEAF_FIRST). */
static void add_step(struct stack_text *stacks, uint32_t depth)
{
	frame_id frame = stacks->all.items[stacks->steps[depth].stack].frame;
	const char *text = stacks->frames + stacks->first[frame];
	size_t len = stacks->first[frame + 1] - stacks->first[frame];
	size_t used = stacks->steps[depth - 1].len;

	stack_text_make_room(stacks, used, len);
	stacks->steps[depth].len = used + len;
	memcpy(stacks->text + (stacks->order == ROOT_FIRST ? used : stacks->text_room - used - len),
	       text, len);
}

const char *stack_text_of(struct stack_text *stacks, stack_id id, size_t *len)
{
	for (uint32_t depth = find_steps(stacks, id); depth < stacks->depth;)
		add_step(stacks, ++depth);
	*len = stacks->steps[stacks->depth].len;
	return stacks->order == ROOT_FIRST ? stacks->text : stacks->text + stacks->text_room - *len;
}
