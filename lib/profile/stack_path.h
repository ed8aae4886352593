/*
 * The walk from a stack up to its first known caller and back down to the
 * stack:
 *
 *	while (!is_known(stack))
 *	stack = stack_path_up(&path, stacks, stack);
 *	while (stack_path_down(&path, &stack))
 *	make_known(stack);
 */
#ifndef PROF_PROFILE_STACK_PATH_H
#define PROF_PROFILE_STACK_PATH_H

#include "base/alloc.h"
#include "profile/profile.h"

/* Stacks, leaf first; empty between walks. The caller frees items. */
struct stack_path {
	stack_id *items;
	size_t count, room;
};

/* Adds a stack. Returns its parent. */
static inline stack_id stack_path_up(struct stack_path *path, struct profile_stacks stacks,
				     stack_id stack)
{
	GROW(path->items, path->count, path->room);
	path->items[path->count++] = stack;
	return stacks.items[stack].parent;
}

/* Removes the stack that was added last. Returns false if there are no more. */
static inline bool stack_path_down(struct stack_path *path, stack_id *ret)
{
	if (!path->count)
		return false;
	*ret = path->items[--path->count];
	return true;
}

#endif
