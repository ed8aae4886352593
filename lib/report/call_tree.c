#include "report/call_tree.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* Distinguishes a child from siblings with the same label. */
enum { CHILD_CALLED, CHILD_INLINED, CHILD_GROUP };

/* No node has this number. */
#define NO_GROUP UINT32_MAX

static uint32_t add_child(struct call_tree *tree, uint32_t parent, uint32_t label, uint32_t group,
			  unsigned kind)
{
	uint64_t key = (uint64_t)parent << 32 | (kind == CHILD_GROUP ? group : label);
	uint32_t *node = idmap_put(&tree->children, key, kind);

	if (*node != IDMAP_NONE)
		return *node;
	*node = tree->count;
	GROW(tree->nodes, tree->count, tree->room);
	tree->nodes[tree->count] = (struct call_tree_node){
		.parent = parent,
		.label = label,
		.group = group,
		.depth = tree->count ? tree->nodes[parent].depth + 1 : 0,
		.is_inlined = kind == CHILD_INLINED,
	};
	return tree->count++;
}

void call_tree_init(struct call_tree *tree, const struct display_labels *labels)
{
	*tree = (struct call_tree){.labels = labels};
	/*
	 * No label has this number, so the node cannot be found as a child of
	 * itself.
	 */
	add_child(tree, CALL_TREE_TOP, CALL_TREE_NO_LABEL, 0, CHILD_CALLED);
}

void call_tree_deinit(struct call_tree *tree)
{
	free(tree->nodes);
	free(tree->path.items);
	idmap_deinit(&tree->children);
	free(tree->by_stack);
	free(tree->group_of);
	*tree = (struct call_tree){0};
}

uint32_t call_tree_group(struct call_tree *tree, uint32_t group)
{
	return add_child(tree, CALL_TREE_TOP, CALL_TREE_NO_LABEL, group, CHILD_GROUP);
}

static uint32_t call_tree_add_frame(struct call_tree *tree, uint32_t node, frame_id frame)
{
	const struct display_labels *labels = tree->labels;

	for (uint32_t i = labels->first_line[frame]; i < labels->first_line[frame + 1]; i++)
		node = add_child(tree, node, labels->lines[i].label, tree->nodes[node].group,
				 labels->lines[i].is_inlined ? CHILD_INLINED : CHILD_CALLED);
	return node;
}

/* The profile may still grow. */
static void make_room_for_stacks(struct call_tree *tree)
{
	uint32_t count = profile_stacks(tree->labels->profile).count;

	if (tree->stack_count >= count)
		return;
	tree->by_stack = xreallocarray(tree->by_stack, count, sizeof(*tree->by_stack));
	tree->group_of = xreallocarray(tree->group_of, count, sizeof(*tree->group_of));
	for (; tree->stack_count < count; tree->stack_count++)
		tree->group_of[tree->stack_count] = NO_GROUP;
}

uint32_t call_tree_node_of(struct call_tree *tree, uint32_t group_node, stack_id stack)
{
	const struct profile_stacks stacks = profile_stacks(tree->labels->profile);
	uint32_t node;

	make_room_for_stacks(tree);
	while (stack != STACK_EMPTY && tree->group_of[stack] != group_node)
		stack = stack_path_up(&tree->path, stacks, stack);
	node = stack == STACK_EMPTY ? group_node : tree->by_stack[stack];
	while (stack_path_down(&tree->path, &stack)) {
		node = call_tree_add_frame(tree, node, stacks.items[stack].frame);
		tree->by_stack[stack] = node;
		tree->group_of[stack] = group_node;
	}
	return node;
}

void call_tree_add(struct call_tree *tree, uint32_t node, uint64_t samples, uint64_t weight)
{
	tree->nodes[node].self.samples += samples;
	tree->nodes[node].self.weight += weight;
}

void call_tree_sum_up(struct call_tree *tree)
{
	for (uint32_t i = 0; i < tree->count; i++) {
		tree->nodes[i].total = tree->nodes[i].self;
		tree->nodes[i].first_child = 0;
	}
	for (uint32_t i = tree->count; i-- > 1;) {
		struct call_tree_node *node = &tree->nodes[i], *parent = &tree->nodes[node->parent];

		parent->total.samples += node->total.samples;
		parent->total.weight += node->total.weight;
		node->next_sibling = parent->first_child;
		parent->first_child = i;
	}
}

uint32_t call_tree_prune(struct call_tree *tree, uint64_t least)
{
	uint32_t pruned = 0;

	for (uint32_t i = 0; i < tree->count; i++) {
		uint32_t *link = &tree->nodes[i].first_child;

		pruned += i && tree->nodes[i].total.weight < least;
		while (*link) {
			struct call_tree_node *child = &tree->nodes[*link];

			if (child->total.weight < least)
				*link = child->next_sibling;
			else
				link = &child->next_sibling;
		}
	}
	return pruned;
}

struct siblings {
	const struct call_tree *tree;
	call_tree_order *order;
};

static int compare_siblings(const void *a, const void *b, void *context)
{
	const struct siblings *siblings = context;

	return siblings->order(siblings->tree, *(const uint32_t *)a, *(const uint32_t *)b);
}

void call_tree_sort(struct call_tree *tree, call_tree_order *order)
{
	CLEANUP(free_ptr) uint32_t *list = xcalloc(tree->count, sizeof(*list));
	struct siblings siblings = {.tree = tree, .order = order};

	for (uint32_t i = 0; i < tree->count; i++) {
		uint32_t *link = &tree->nodes[i].first_child;
		size_t count = 0;

		for (uint32_t child = *link; child; child = tree->nodes[child].next_sibling)
			list[count++] = child;
		if (count < 2)
			continue;
		qsort_r(list, count, sizeof(*list), compare_siblings, &siblings);
		for (size_t j = 0; j < count; j++) {
			*link = list[j];
			link = &tree->nodes[list[j]].next_sibling;
		}
		*link = 0;
	}
}

static const char *call_tree_name_of(const struct call_tree *tree,
				     const struct call_tree_node *node)
{
	return node->label == CALL_TREE_NO_LABEL ? "" : tree->labels->items[node->label].name;
}

int call_tree_by_total(const struct call_tree *tree, uint32_t a, uint32_t b)
{
	const struct call_tree_node *left = &tree->nodes[a], *right = &tree->nodes[b];
	int order;

	if (left->total.weight != right->total.weight)
		return left->total.weight < right->total.weight ? 1 : -1;
	order = strcmp(call_tree_name_of(tree, left), call_tree_name_of(tree, right));
	return order ? order : (a > b) - (a < b);
}

int call_tree_by_name(const struct call_tree *tree, uint32_t a, uint32_t b)
{
	const struct call_tree_node *left = &tree->nodes[a], *right = &tree->nodes[b];
	int order;

	if (left->group != right->group)
		return left->group < right->group ? -1 : 1;
	order = strcmp(call_tree_name_of(tree, left), call_tree_name_of(tree, right));
	return order ? order : (a > b) - (a < b);
}
