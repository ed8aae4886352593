/*
 * The distinct stacks of a profile: a trie, also called a calling context tree, in which a stack is
 * the child of the stack of its caller. Ids are dense, and a parent's is lower than its child's.
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
/* A stack without samples. */
#define STACK_NO_SAMPLE IDMAP_NONE

struct profile_stack {
	stack_id parent; /* towards the root; lower than the stack's own id */
	frame_id frame;
	uint32_t depth;	       /* number of frames; 0 for STACK_EMPTY */
	uint32_t first_sample; /* index of the stack's first sample; or STACK_NO_SAMPLE */
};

struct stack_trie {
	struct profile_stack *items; /* by stack_id */
	uint32_t count, room;
	struct idmap ids; /* by (parent, frame): see stack_trie_push(); private */
};

void stack_trie_init(struct stack_trie *trie);
void stack_trie_deinit(struct stack_trie *trie);

stack_id stack_trie_push(struct stack_trie *trie, stack_id parent, frame_id frame);
/* Finds what stack_trie_push() would return, and adds nothing. False: it would add a stack. */
bool stack_trie_find(const struct stack_trie *trie, stack_id parent, frame_id frame, stack_id *ret);

/* A whole stack. */
struct profile_path {
	const frame_id *frames; /* leaf first */
	size_t count;		/* 0 when it has been pushed */
	stack_id stack;		/* where the frames go, STACK_EMPTY at first; then the result */
};

/* The number of paths that are pushed at once. */
enum { STACK_TRIE_PATHS_MAX = 32 };

/*
 * Pushes several stacks. To follow one stack is to wait for memory at each frame; for several
 * unrelated stacks the waits overlap.
 */
void stack_trie_push_paths(struct stack_trie *trie, struct profile_path *paths, size_t count);

#endif
