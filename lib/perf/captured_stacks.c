#include "perf/captured_stacks.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* Size of the outermost part of the kernel's copy that must be unchanged. The
 * rest need not be, because the kernel and other threads write into it. */
enum { OVERLAP_BYTES = 1 << 10 };

enum captured_stacks_owner { OWNER_COPIER, OWNER_READER };

void captured_stacks_deinit(struct captured_stacks *stacks)
{
	for (unsigned i = 0; i < CAPTURED_STACKS; i++) {
		free(stacks->items[i].memory);
		free(stacks->items[i].interrupted);
		free(stacks->items[i].script.frames);
	}
}

struct captured_stack *captured_stacks_next(struct captured_stacks *stacks)
{
	for (unsigned i = 0; i < CAPTURED_STACKS; i++)
		if (atomic_load(&stacks->items[i].owner) == OWNER_COPIER)
			return &stacks->items[i];
	return NULL;
}

static size_t overlap_start(size_t dumped_bytes)
{
	return dumped_bytes < OVERLAP_BYTES ? 0 : dumped_bytes - OVERLAP_BYTES;
}

/* Discards the old contents. */
static void captured_stacks_make_room(unsigned char **memory, size_t *room, size_t bytes)
{
	if (bytes <= *room)
		return;
	free(*memory);
	*memory = xmalloc(bytes);
	*room = bytes;
}

size_t captured_stack_prepare(struct captured_stack *stack, size_t bytes, size_t dumped_bytes)
{
	captured_stacks_make_room(&stack->memory, &stack->room, bytes);
	stack->interrupted_len = 0;
	stack->go.sp = 0;
	stack->has_script = false;
	stack->inner_from = 0;
	return overlap_start(dumped_bytes);
}

void captured_stack_prepare_interrupted(struct captured_stack *stack, size_t bytes)
{
	captured_stacks_make_room(&stack->interrupted, &stack->interrupted_room, bytes);
}

void captured_stack_skip_callees(struct captured_stack *stack, uint64_t sp)
{
	const struct script_stack *script = &stack->script;

	for (unsigned i = 0; i < script->count; i++) {
		if (!script->frames[i].is_entry)
			continue;
		if (script->frames[i].word_at - sp < INNER_BYTES)
			stack->inner_from = script->frames[i].word_at - sp;
		return;
	}
}

void captured_stack_publish(struct captured_stack *stack)
{
	atomic_store(&stack->owner, OWNER_READER);
}

void captured_stack_release(struct captured_stack *stack)
{
	atomic_store(&stack->owner, OWNER_COPIER);
}

static bool is_inner_part_equal(const struct captured_stack *stack, const unsigned char *dump,
				size_t dumped)
{
	size_t len = dumped < INNER_BYTES ? dumped : INNER_BYTES;

	return !stack->has_script || len <= stack->inner_from ||
	       !memcmp(stack->memory + stack->inner_from, dump + stack->inner_from,
		       len - stack->inner_from);
}

/* Inserts the kernel's copy. Returns false if the captured stack is a different
 * one. */
static bool captured_stacks_complete(struct captured_stack *stack,
				     const struct record_sample *sample)
{
	const unsigned char *dump = sample->stack.at;
	size_t dumped = sample->dumped_bytes, from = overlap_start(dumped);

	if (stack->len < dumped + !(stack->interrupted_len || stack->has_script) ||
	    memcmp(stack->memory + from, dump + from, dumped - from) != 0 ||
	    !is_inner_part_equal(stack, dump, dumped))
		return false;
	memcpy(stack->memory, dump, from);
	return true;
}

static struct captured_stack *captured_stacks_find(struct captured_stacks *stacks,
						   const struct record *sample)
{
	struct captured_stack *found = NULL;

	for (unsigned i = 0; i < CAPTURED_STACKS; i++) {
		struct captured_stack *stack = &stacks->items[i];

		if (atomic_load(&stack->owner) != OWNER_READER)
			continue;
		if (stack->tid == sample->tid && stack->time_ns == sample->time_ns)
			found = stack;
		else if (stack->time_ns < sample->time_ns)
			captured_stack_release(stack);
	}
	return found;
}

struct captured_stack *captured_stacks_take(struct captured_stacks *stacks,
					    const struct record *sample)
{
	struct captured_stack *stack = captured_stacks_find(stacks, sample);

	if (!stack || captured_stacks_complete(stack, &sample->sample))
		return stack;
	captured_stack_release(stack);
	return NULL;
}
