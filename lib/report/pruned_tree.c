#include "report/pruned_tree.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define NO_ENTRY UINT32_MAX

/*
 * One position in the trie that belongs to a node: a line of the last frame of
 * a stack.
 */
struct pruned_tree_entry {
	stack_id stack;
	uint32_t line; /* in labels->lines */
	uint32_t next; /* of the same node */
	struct sum sum;
};

/* A node whose children have not been determined yet. */
struct branch {
	uint32_t label;
	bool is_inlined;
	uint32_t parent;
	uint32_t first_entry;
	uint32_t folded;
	struct sum total;
};

struct pruned_tree_builder {
	const struct view *view;
	const struct display_labels *labels;
	const bool *chosen;
	uint32_t
		/*
		 * For each label of chosen functions, the number of calls in
		 * the current stack of the walk.
		 */
		*on_path;
	bool upwards;
	uint64_t min_weight;
	struct pruned_tree *tree;

	struct pruned_tree_entry *entries;
	uint32_t entry_count, entry_room;
	uint32_t first_free;	 /* of the entries that can be reused */
	struct branch *branches; /* a stack; the topmost ones are children of one node */
	size_t branch_count, branch_room, first_child;
	struct idmap children; /* index in branches, by (label, is_inlined) */
};

static frame_id pruned_tree_frame_of(const struct pruned_tree_builder *builder, stack_id stack)
{
	return builder->view->stacks[stack].frame;
}

static struct branch *child_of(struct pruned_tree_builder *builder, uint32_t parent, uint32_t label,
			       bool is_inlined)
{
	uint32_t *place = idmap_put(&builder->children, label, is_inlined);

	if (*place == IDMAP_NONE) {
		*place = (uint32_t)builder->branch_count;
		GROW(builder->branches, builder->branch_count, builder->branch_room);
		builder->branches[builder->branch_count++] =
			(struct branch){.label = label,
					.is_inlined = is_inlined,
					.parent = parent,
					.first_entry = NO_ENTRY};
	}
	return &builder->branches[*place];
}

static uint32_t new_entry(struct pruned_tree_builder *builder, struct pruned_tree_entry entry)
{
	uint32_t free_entry = builder->first_free;

	if (free_entry != NO_ENTRY) {
		builder->first_free = builder->entries[free_entry].next;
		builder->entries[free_entry] = entry;
		return free_entry;
	}
	GROW(builder->entries, builder->entry_count, builder->entry_room);
	builder->entries[builder->entry_count] = entry;
	return builder->entry_count++;
}

static struct pruned_tree_entry pruned_tree_take_entry(struct pruned_tree_builder *builder,
						       uint32_t *list)
{
	uint32_t taken = *list;
	struct pruned_tree_entry entry = builder->entries[taken];

	*list = entry.next;
	builder->entries[taken].next = builder->first_free;
	builder->first_free = taken;
	return entry;
}

static void add_to_branch(struct pruned_tree_builder *builder, struct branch *branch,
			  struct pruned_tree_entry entry)
{
	uint32_t folded = builder->labels->lines[entry.line].folded;

	if (folded > branch->folded)
		branch->folded = folded;
	entry.next = branch->first_entry;
	sum_add(&branch->total, entry.sum);
	branch->first_entry = new_entry(builder, entry);
}

/*
 * Steps from a node to a child or, if the function calls itself, to another
 * position of the node.
 */
static void pruned_tree_step(struct pruned_tree_builder *builder, uint32_t node, uint32_t *rest,
			     struct pruned_tree_entry entry)
{
	struct labelled_line line = builder->labels->lines[entry.line];

	if (builder->tree->nodes[node].label == line.label) {
		builder->tree->nodes[node].is_recursive = true;
		entry.next = *rest;
		*rest = new_entry(builder, entry);
	} else {
		add_to_branch(builder, child_of(builder, node, line.label, line.is_inlined), entry);
	}
}

static void step_down(struct pruned_tree_builder *builder, uint32_t node, uint32_t *rest,
		      struct pruned_tree_entry at)
{
	const struct view *view = builder->view;
	const uint32_t *first_line = builder->labels->first_line;

	if (at.line + 1 < first_line[pruned_tree_frame_of(builder, at.stack) + 1]) {
		at.line++;
		pruned_tree_step(builder, node, rest, at);
		return;
	}
	sum_add(&builder->tree->nodes[node].self, at.sum);
	for (stack_id i = view->stacks[at.stack].first_child; i; i = view->stacks[i].next_sibling) {
		sum_subtract(&builder->tree->nodes[node].self, view->stacks[i].total);
		pruned_tree_step(builder, node, rest,
				 (struct pruned_tree_entry){
					 .stack = i,
					 .line = first_line[pruned_tree_frame_of(builder, i)],
					 .sum = view->stacks[i].total});
	}
}

static void step_up(struct pruned_tree_builder *builder, uint32_t node, uint32_t *rest,
		    struct pruned_tree_entry at)
{
	const uint32_t *first_line = builder->labels->first_line;

	if (at.line > first_line[pruned_tree_frame_of(builder, at.stack)]) {
		at.line--;
	} else {
		at.stack = builder->view->stacks[at.stack].parent;
		if (at.stack == STACK_EMPTY) {
			sum_add(&builder->tree->nodes[node].self, at.sum);
			return;
		}
		at.line = first_line[pruned_tree_frame_of(builder, at.stack) + 1] - 1;
	}
	pruned_tree_step(builder, node, rest, at);
}

static void find_children(struct pruned_tree_builder *builder, uint32_t node, uint32_t first_entry)
{
	uint32_t rest = first_entry;

	builder->first_child = builder->branch_count;
	while (rest != NO_ENTRY) {
		struct pruned_tree_entry at = pruned_tree_take_entry(builder, &rest);

		if (builder->upwards)
			step_up(builder, node, &rest, at);
		else
			step_down(builder, node, &rest, at);
	}
}

/* The heaviest one comes last, because it is popped first. */
static int compare_branches(const void *a, const void *b, void *labels)
{
	const struct branch *left = a, *right = b;
	const struct label *items = ((const struct display_labels *)labels)->items;
	int by_name = strcmp(items[right->label].name, items[left->label].name);

	if (left->total.weight != right->total.weight)
		return left->total.weight < right->total.weight ? -1 : 1;
	if (by_name)
		return by_name;
	if (left->label != right->label)
		return left->label < right->label ? 1 : -1;
	return left->is_inlined - right->is_inlined;
}

/*
 * Sorts the children that were added last and drops those below the minimum
 * weight.
 */
static uint32_t keep_children(struct pruned_tree_builder *builder, struct sum *closed)
{
	struct branch *first = builder->branches ? builder->branches + builder->first_child : NULL;
	size_t count = builder->branch_count - builder->first_child, kept = 0;

	for (size_t i = 0; i < count; i++) {
		idmap_remove(&builder->children, first[i].label, first[i].is_inlined);
		if (first[i].total.weight >= builder->min_weight) {
			first[kept++] = first[i];
			continue;
		}
		sum_add(closed, first[i].total);
		while (first[i].first_entry != NO_ENTRY)
			pruned_tree_take_entry(builder, &first[i].first_entry);
	}
	if (kept > 1)
		qsort_r(first, kept, sizeof(*first), compare_branches, (void *)builder->labels);
	builder->branch_count = builder->first_child + kept;
	return (uint32_t)kept;
}

static uint32_t add_node(struct pruned_tree_builder *builder, const struct branch *branch)
{
	struct pruned_tree *tree = builder->tree;
	bool is_root = branch->parent == PRUNED_TREE_NO_PARENT;

	GROW(tree->nodes, tree->count, tree->room);
	tree->nodes[tree->count] = (struct pruned_node){
		.label = branch->label,
		.parent = branch->parent,
		.depth = is_root ? 0 : tree->nodes[branch->parent].depth + 1,
		.is_inlined = branch->is_inlined,
		.folded = branch->folded,
		.total = branch->total,
	};
	return (uint32_t)tree->count++;
}

static void open_branches(struct pruned_tree_builder *builder)
{
	struct pruned_tree *tree = builder->tree;

	keep_children(builder, &tree->closed);
	while (builder->branch_count) {
		struct branch branch = builder->branches[--builder->branch_count];
		uint32_t node = add_node(builder, &branch);
		struct sum closed = {0};

		find_children(builder, node, branch.first_entry);
		tree->nodes[node].children = keep_children(builder, &closed);
		tree->nodes[node].closed = closed;
	}
}

static void pruned_tree_builder_deinit(struct pruned_tree_builder *builder)
{
	free(builder->on_path);
	free(builder->entries);
	free(builder->branches);
	idmap_deinit(&builder->children);
}

void pruned_tree_calls(struct pruned_tree *tree, const struct view *view, uint64_t min_weight)
{
	CLEANUP(pruned_tree_builder_deinit)
	struct pruned_tree_builder builder = {.view = view,
					      .labels = &view->labels,
					      .min_weight = min_weight,
					      .tree = tree,
					      .first_free = NO_ENTRY};

	*tree = (struct pruned_tree){0};
	for (stack_id i = view->stacks[STACK_EMPTY].first_child; i;
	     i = view->stacks[i].next_sibling) {
		uint32_t line = builder.labels->first_line[pruned_tree_frame_of(&builder, i)];
		uint32_t label = builder.labels->lines[line].label;

		add_to_branch(&builder, child_of(&builder, PRUNED_TREE_NO_PARENT, label, false),
			      (struct pruned_tree_entry){
				      .stack = i, .line = line, .sum = view->stacks[i].total});
	}
	open_branches(&builder);
}

static void pruned_tree_enter(void *user, stack_id stack)
{
	struct pruned_tree_builder *builder = user;
	frame_id frame = pruned_tree_frame_of(builder, stack);
	const struct display_labels *labels = builder->labels;

	for (uint32_t i = labels->first_line[frame]; i < labels->first_line[frame + 1]; i++) {
		uint32_t label = labels->lines[i].label;

		if (builder->chosen[label] && !builder->on_path[label]++)
			add_to_branch(builder,
				      child_of(builder, PRUNED_TREE_NO_PARENT, label, false),
				      (struct pruned_tree_entry){
					      .stack = stack,
					      .line = i,
					      .sum = builder->view->stacks[stack].total});
	}
}

static void pruned_tree_leave(void *user, stack_id stack)
{
	struct pruned_tree_builder *builder = user;
	frame_id frame = pruned_tree_frame_of(builder, stack);
	const struct display_labels *labels = builder->labels;

	for (uint32_t i = labels->first_line[frame]; i < labels->first_line[frame + 1]; i++)
		if (builder->chosen[labels->lines[i].label])
			builder->on_path[labels->lines[i].label]--;
}

static void pruned_tree_around(struct pruned_tree *tree, const struct view *view,
			       const bool *chosen, uint64_t min_weight, bool upwards)
{
	CLEANUP(pruned_tree_builder_deinit)
	struct pruned_tree_builder builder = {.view = view,
					      .labels = &view->labels,
					      .chosen = chosen,
					      .upwards = upwards,
					      .min_weight = min_weight,
					      .tree = tree,
					      .first_free = NO_ENTRY};

	*tree = (struct pruned_tree){0};
	builder.on_path = xcalloc(view->labels.count, sizeof(*builder.on_path));
	view_walk(view, pruned_tree_enter, pruned_tree_leave, &builder);
	open_branches(&builder);
}

void pruned_tree_callees(struct pruned_tree *tree, const struct view *view, const bool *chosen,
			 uint64_t min_weight)
{
	pruned_tree_around(tree, view, chosen, min_weight, false);
}

void pruned_tree_callers(struct pruned_tree *tree, const struct view *view, const bool *chosen,
			 uint64_t min_weight)
{
	pruned_tree_around(tree, view, chosen, min_weight, true);
}

/* A heaviest callee follows its caller. */
static uint32_t hot_path_length(const struct pruned_tree *tree)
{
	uint32_t length = 0;

	while (length < tree->count &&
	       tree->nodes[length].parent == (length ? length - 1 : PRUNED_TREE_NO_PARENT))
		length++;
	return length;
}

static void prune_node(struct pruned_node *parent, const struct pruned_node *node)
{
	parent->children--;
	sum_add(&parent->closed, node->total);
}

bool pruned_tree_open_hot_path(struct pruned_tree *tree, uint64_t min_weight)
{
	CLEANUP(free_ptr) uint32_t *moved_to = xcalloc(tree->count, sizeof(*moved_to));
	uint32_t hot = hot_path_length(tree);
	size_t kept = 0, count = tree->count;

	for (uint32_t i = 0; i < count; i++) {
		struct pruned_node node = tree->nodes[i];
		bool is_root = node.parent == PRUNED_TREE_NO_PARENT;
		bool is_near = is_root || node.parent < hot;

		moved_to[i] = PRUNED_TREE_NO_PARENT;
		if (!is_root && moved_to[node.parent] == PRUNED_TREE_NO_PARENT)
			continue;
		if (!is_root)
			node.parent = moved_to[node.parent];
		if (!is_near && node.total.weight < min_weight) {
			prune_node(&tree->nodes[node.parent], &node);
			continue;
		}
		moved_to[i] = (uint32_t)kept;
		tree->nodes[kept++] = node;
	}
	tree->count = kept;
	return kept < count;
}

void pruned_tree_deinit(struct pruned_tree *tree)
{
	free(tree->nodes);
	*tree = (struct pruned_tree){0};
}
