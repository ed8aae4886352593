/*
 * Call trees by label: stacks whose frames have the same labels are one path,
 * whatever their addresses. Sums are exact; the time is linear in the stack
 * trie and the samples.
 *
 * Nodes are dense, and a parent's number is lower than its children's. Node 0,
 * CALL_TREE_TOP, is the parent of all roots and has no label.
 */
#ifndef PROF_REPORT_CALL_TREE_H
#define PROF_REPORT_CALL_TREE_H

#include "profile/stack_path.h"
#include "report/display_labels.h"
#include "report/sum.h"

#define CALL_TREE_TOP 0u
#define CALL_TREE_NO_LABEL UINT32_MAX

struct call_tree_node {
	uint32_t parent;
	uint32_t first_child, next_sibling; /* 0 means none */
	uint32_t label;			    /* CALL_TREE_NO_LABEL for CALL_TREE_TOP and groups */
	uint32_t group;			    /* the group of the node and of all nodes below it */
	uint32_t depth;			    /* 0 for CALL_TREE_TOP */
	bool is_inlined;
	struct sum self, total;
};

struct call_tree {
	const struct display_labels *labels;
	struct call_tree_node *nodes;
	uint32_t count, room;
	struct idmap children; /* by (parent and label, group or inlined) */
	uint32_t *by_stack;    /* the node of each stack's leaf */
	/*
	 * The group of that node: the last group that was requested for the
	 * stack.
	 */
	uint32_t *group_of;
	uint32_t stack_count; /* capacity of by_stack and group_of */
	struct stack_path path;
};

/* Initializes an empty tree. labels is borrowed. */
void call_tree_init(struct call_tree *tree, const struct display_labels *labels);
void call_tree_deinit(struct call_tree *tree);

/*
 * Returns the node of a group in the first level of the tree, and creates it at
 * the first call. The caller numbers the groups, such as processes or threads.
 * A tree without groups uses CALL_TREE_TOP instead.
 */
uint32_t call_tree_group(struct call_tree *tree, uint32_t group);

/*
 * Returns the node for the innermost line of a stack below the node of a group.
 * Creates it and its callers if they are new. The empty stack has the group's
 * node. It is fast if calls are ordered by group.
 */
uint32_t call_tree_node_of(struct call_tree *tree, uint32_t group_node, stack_id stack);

/* Adds to a node's self. */
void call_tree_add(struct call_tree *tree, uint32_t node, uint64_t samples, uint64_t weight);

/*
 * Computes totals and the lists of children, in the order of creation. Call it
 * after the last addition.
 */
void call_tree_sum_up(struct call_tree *tree);

/*
 * Removes nodes with a total weight below `least`, and all nodes below them,
 * from the lists of children. Returns their number.
 */
uint32_t call_tree_prune(struct call_tree *tree, uint64_t least);

/* Sorts the lists of children. order must be a total order of siblings. */
typedef int call_tree_order(const struct call_tree *tree, uint32_t a, uint32_t b);
void call_tree_sort(struct call_tree *tree, call_tree_order *order);
/* Orders by total weight, the largest first, then by name. */
call_tree_order call_tree_by_total;
/* Orders by name. Groups are ordered by number. */
call_tree_order call_tree_by_name;

#endif
