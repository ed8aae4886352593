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

static stack_id add(struct stack_trie *trie, stack_id parent, frame_id frame)
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
 * A stack created right after its parent is found without a hash lookup and needs no entry in the
 * map. Most stacks are: once a stack leaves the known part of the trie, the rest of it is new.
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
		return add(trie, parent, frame);
	id = idmap_put(&trie->ids, table_key(parent, frame), 0);
	if (*id == IDMAP_NONE)
		*id = add(trie, parent, frame);
	return *id;
}

bool stack_trie_find(const struct stack_trie *trie, stack_id parent, frame_id frame, stack_id *ret)
{
	*ret = is_neighbour(trie, parent, frame)
		       ? parent + 1
		       : idmap_get(&trie->ids, table_key(parent, frame), 0);
	return *ret != IDMAP_NONE;
}

static void enter(struct profile_path *path, stack_id stack)
{
	path->known = stack;
	path->frames++;
	path->count--;
}

/* Returns false at the end of the known part. */
static bool follow_neighbours(const struct stack_trie *trie, struct profile_path *path)
{
	while (path->count && is_neighbour(trie, path->known, *path->frames))
		enter(path, path->known + 1);
	if (path->count)
		idmap_prefetch(&trie->ids, table_key(path->known, *path->frames), 0);
	return path->count;
}

static void follow_map(const struct stack_trie *trie, struct profile_path *path)
{
	stack_id stack = idmap_get(&trie->ids, table_key(path->known, *path->frames), 0);

	if (stack == IDMAP_NONE) {
		path->count = 0;
		return;
	}
	enter(path, stack);
	__builtin_prefetch(&trie->items[stack]);
}

void stack_trie_prefetch(const struct stack_trie *trie, struct profile_path *paths, size_t count)
{
	for (size_t i = 0; i < count; i++)
		paths[i].known = STACK_EMPTY;
	while (count) {
		size_t left = 0;

		for (size_t i = 0; i < count; i++)
			if (follow_neighbours(trie, &paths[i]))
				paths[left++] = paths[i];
		for (size_t i = 0; i < left; i++)
			follow_map(trie, &paths[i]);
		count = left;
	}
}
