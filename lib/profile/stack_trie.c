#include "profile/stack_trie.h"

#include "profile/table.h"

void stack_trie_init(struct stack_trie *trie)
{
	*trie = (struct stack_trie){0};
	GROW(trie->items, trie->count, trie->room);
	trie->items[trie->count++] = (struct profile_stack){.first_sample = STACK_NO_SAMPLE};
}

void stack_trie_deinit(struct stack_trie *trie)
{
	TABLE_DEINIT(*trie);
}

static stack_id stack_trie_add(struct stack_trie *trie, stack_id parent, frame_id frame)
{
	GROW(trie->items, trie->count, trie->room);
	trie->items[trie->count] = (struct profile_stack){
		.parent = parent,
		.frame = frame,
		.depth = trie->items[parent].depth + 1,
		.first_sample = STACK_NO_SAMPLE,
	};
	return trie->count++;
}

/*
 * A stack created directly after its parent is found without a hash lookup and
 * needs no entry in the map. Most stacks are: once a stack leaves the known
 * part of the trie, all of its further frames are new.
 */
static bool is_neighbour(const struct stack_trie *trie, stack_id parent, frame_id frame)
{
	const struct profile_stack *next = &trie->items[parent + 1];

	return parent + 1 < trie->count && next->parent == parent && next->frame == frame;
}

stack_id stack_trie_push(struct stack_trie *trie, stack_id parent, frame_id frame)
{
	uint32_t *id;

	if (is_neighbour(trie, parent, frame))
		return parent + 1;
	if (parent + 1 == trie->count)
		return stack_trie_add(trie, parent, frame);
	id = idmap_put(&trie->ids, table_key(parent, frame), 0);
	if (*id == IDMAP_NONE)
		*id = stack_trie_add(trie, parent, frame);
	return *id;
}

bool stack_trie_find(const struct stack_trie *trie, stack_id parent, frame_id frame, stack_id *ret)
{
	*ret = is_neighbour(trie, parent, frame)
		       ? parent + 1
		       : idmap_get(&trie->ids, table_key(parent, frame), 0);
	return *ret != IDMAP_NONE;
}

static void stack_trie_enter(struct profile_path *path, stack_id stack)
{
	path->stack = stack;
	path->count--;
}

static uint64_t next_key(const struct profile_path *path)
{
	return table_key(path->stack, path->frames[path->count - 1]);
}

/* Returns false at the end of the path. */
static bool follow_neighbours(const struct stack_trie *trie, struct profile_path *path)
{
	while (path->count && is_neighbour(trie, path->stack, path->frames[path->count - 1]))
		stack_trie_enter(path, path->stack + 1);
	if (path->count)
		idmap_prefetch(&trie->ids, next_key(path), 0);
	return path->count;
}

/* Returns false at the end of the known part. */
static bool follow_map(const struct stack_trie *trie, struct profile_path *path)
{
	stack_id stack = idmap_get(&trie->ids, next_key(path), 0);

	if (stack == IDMAP_NONE)
		return false;
	stack_trie_enter(path, stack);
	__builtin_prefetch(&trie->items[stack]);
	return true;
}

/* Follows all paths at the same time, each to the end of its known part. */
static void stack_trie_follow(const struct stack_trie *trie, struct profile_path *paths,
			      size_t count)
{
	struct profile_path *going[STACK_TRIE_PATHS_MAX];

	for (size_t i = 0; i < count; i++)
		going[i] = &paths[i];
	while (count) {
		size_t left = 0;

		for (size_t i = 0; i < count; i++)
			if (follow_neighbours(trie, going[i]))
				going[left++] = going[i];
		count = 0;
		for (size_t i = 0; i < left; i++)
			if (follow_map(trie, going[i]))
				going[count++] = going[i];
	}
}

void stack_trie_push_paths(struct stack_trie *trie, struct profile_path *paths, size_t count)
{
	stack_trie_follow(trie, paths, count);
	for (size_t i = 0; i < count; i++)
		while (paths[i].count)
			stack_trie_enter(&paths[i],
					 stack_trie_push(trie, paths[i].stack,
							 paths[i].frames[paths[i].count - 1]));
}
