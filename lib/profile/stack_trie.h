/*
 * The distinct stacks of a profile: a trie, also called a calling context tree,
 * in which the parent of a stack is the stack of its caller. Ids are dense, and
 * a parent's id is lower than its child's.
 */
#ifndef PROF_PROFILE_STACK_TRIE_H
#define PROF_PROFILE_STACK_TRIE_H

#include "base/idmap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t frame_id;
typedef uint32_t stack_id;

/* The stack without frames: the parent of every root. */
#define STACK_EMPTY ((stack_id)0)
/* The first_sample of a stack without samples. */
#define STACK_NO_SAMPLE IDMAP_NONE

struct profile_stack {
	stack_id parent; /* towards the root; lower than the stack's own id */
	frame_id frame;
	uint32_t depth;	       /* number of frames; 0 for STACK_EMPTY */
	uint32_t first_sample; /* index of the stack's first sample, or STACK_NO_SAMPLE */
};

struct stack_trie {
	struct profile_stack *items; /* by stack_id */
	uint32_t count, room;
	struct idmap ids; /* private; by (parent, frame), see stack_trie_push() */
};

void stack_trie_init(struct stack_trie *trie);
void stack_trie_deinit(struct stack_trie *trie);

stack_id stack_trie_push(struct stack_trie *trie, stack_id parent, frame_id frame);
/*
 * Finds the stack that stack_trie_push() would return, without adding one.
 * Returns false if stack_trie_push() would add a stack.
 */
bool stack_trie_find(const struct stack_trie *trie, stack_id parent, frame_id frame, stack_id *ret);

/* A whole stack. */
struct profile_path {
	const frame_id *frames; /* leaf first */
	size_t count;		/* 0 after it has been pushed */
	/*
	 * Parent of the outermost frame, STACK_EMPTY at first; then the result.
	 */
	stack_id stack;
};

/* The maximum number of paths that are pushed at once. */
enum { STACK_TRIE_PATHS_MAX = 32 };

/*
 * Pushes several stacks. Following one stack waits for memory at each frame.
 * With several unrelated stacks these waits overlap.
 */
void stack_trie_push_paths(struct stack_trie *trie, struct profile_path *paths, size_t count);

#endif
