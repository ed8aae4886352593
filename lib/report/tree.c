#include "report/tree.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* What a child is told from its siblings by, besides the label. */
enum { CHILD_CALLED, CHILD_INLINED, CHILD_GROUP };

/* No node has this number. */
#define NO_GROUP UINT32_MAX

static uint32_t add_child(struct tree *tree, uint32_t parent, uint32_t label, uint32_t group,
			  unsigned kind)
{
	uint64_t key = (uint64_t)parent << 32 | (kind == CHILD_GROUP ? group : label);
	uint32_t *node = idmap_put(&tree->children, key, kind);

	if (*node != IDMAP_NONE)
		return *node;
	*node = tree->count;
	GROW(tree->nodes, tree->count, tree->room);
	tree->nodes[tree->count] = (struct tree_node){
		.parent = parent,
		.label = label,
		.group = group,
		.depth = tree->count ? tree->nodes[parent].depth + 1 : 0,
		.is_inlined = kind == CHILD_INLINED,
	};
	return tree->count++;
}

void tree_init(struct tree *tree, const struct labels *labels)
{
	*tree = (struct tree){.labels = labels};
	/* Not to be found as a child of itself: no label has this number. */
	add_child(tree, TREE_TOP, TREE_NO_LABEL, 0, CHILD_CALLED);
}

void tree_deinit(struct tree *tree)
{
	free(tree->nodes);
	free(tree->path);
	idmap_deinit(&tree->children);
	free(tree->by_stack);
	free(tree->group_of);
	*tree = (struct tree){0};
}

uint32_t tree_group(struct tree *tree, uint32_t group)
{
	return add_child(tree, TREE_TOP, TREE_NO_LABEL, group, CHILD_GROUP);
}

static uint32_t add_frame(struct tree *tree, uint32_t node, frame_id frame)
{
	const struct labels *labels = tree->labels;

	for (uint32_t i = labels->first_line[frame]; i < labels->first_line[frame + 1]; i++)
		node = add_child(tree, node, labels->lines[i].label, tree->nodes[node].group,
				 labels->lines[i].is_inlined ? CHILD_INLINED : CHILD_CALLED);
	return node;
}

/* A profile may go on growing. */
static void make_room_for_stacks(struct tree *tree)
{
	uint32_t count = profile_stack_count(tree->labels->profile);

	if (tree->stack_count >= count)
		return;
	tree->by_stack = xreallocarray(tree->by_stack, count, sizeof(*tree->by_stack));
	tree->group_of = xreallocarray(tree->group_of, count, sizeof(*tree->group_of));
	for (; tree->stack_count < count; tree->stack_count++)
		tree->group_of[tree->stack_count] = NO_GROUP;
}

/* Up from the leaf to the first caller that has a node, and down again. */
uint32_t tree_node_of(struct tree *tree, uint32_t group_node, stack_id stack)
{
	const struct profile *profile = tree->labels->profile;
	uint32_t node;

	make_room_for_stacks(tree);
	while (stack != STACK_EMPTY && tree->group_of[stack] != group_node) {
		GROW(tree->path, tree->path_len, tree->path_room);
		tree->path[tree->path_len++] = stack;
		stack = profile_get_stack(profile, stack).parent;
	}
	node = stack == STACK_EMPTY ? group_node : tree->by_stack[stack];
	while (tree->path_len) {
		stack = tree->path[--tree->path_len];
		node = add_frame(tree, node, profile_get_stack(profile, stack).frame);
		tree->by_stack[stack] = node;
		tree->group_of[stack] = group_node;
	}
	return node;
}

void tree_add(struct tree *tree, uint32_t node, uint64_t samples, uint64_t weight)
{
	tree->nodes[node].self.samples += samples;
	tree->nodes[node].self.weight += weight;
}

void tree_sum_up(struct tree *tree)
{
	for (uint32_t i = 0; i < tree->count; i++) {
		tree->nodes[i].total = tree->nodes[i].self;
		tree->nodes[i].first_child = 0;
	}
	for (uint32_t i = tree->count; i-- > 1;) {
		struct tree_node *node = &tree->nodes[i], *parent = &tree->nodes[node->parent];

		parent->total.samples += node->total.samples;
		parent->total.weight += node->total.weight;
		node->next_sibling = parent->first_child;
		parent->first_child = i;
	}
}

uint32_t tree_prune(struct tree *tree, uint64_t least)
{
	uint32_t pruned = 0;

	for (uint32_t i = 0; i < tree->count; i++) {
		uint32_t *link = &tree->nodes[i].first_child;

		pruned += i && tree->nodes[i].total.weight < least;
		while (*link) {
			struct tree_node *child = &tree->nodes[*link];

			if (child->total.weight < least)
				*link = child->next_sibling;
			else
				link = &child->next_sibling;
		}
	}
	return pruned;
}

struct siblings {
	const struct tree *tree;
	tree_order *order;
};

static int compare_siblings(const void *a, const void *b, void *context)
{
	const struct siblings *siblings = context;

	return siblings->order(siblings->tree, *(const uint32_t *)a, *(const uint32_t *)b);
}

void tree_sort(struct tree *tree, tree_order *order)
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

static const char *name_of(const struct tree *tree, const struct tree_node *node)
{
	return node->label == TREE_NO_LABEL ? "" : tree->labels->items[node->label].name;
}

int tree_by_total(const struct tree *tree, uint32_t a, uint32_t b)
{
	const struct tree_node *left = &tree->nodes[a], *right = &tree->nodes[b];
	int order;

	if (left->total.weight != right->total.weight)
		return left->total.weight < right->total.weight ? 1 : -1;
	order = strcmp(name_of(tree, left), name_of(tree, right));
	return order ? order : (a > b) - (a < b);
}

int tree_by_name(const struct tree *tree, uint32_t a, uint32_t b)
{
	const struct tree_node *left = &tree->nodes[a], *right = &tree->nodes[b];
	int order;

	if (left->group != right->group)
		return left->group < right->group ? -1 : 1;
	order = strcmp(name_of(tree, left), name_of(tree, right));
	return order ? order : (a > b) - (a < b);
}
