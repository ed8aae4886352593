/*
 * Call trees by label: stacks whose frames have the same labels are one path, whatever their
 * addresses. Exact; the time is linear in the stack trie and the samples.
 *
 * Nodes are dense; a parent's number is below its children's. Node 0, CALL_TREE_TOP, is above
 * all roots and has no label.
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
	uint32_t first_child, next_sibling; /* 0: none */
	uint32_t label;			    /* CALL_TREE_NO_LABEL: of CALL_TREE_TOP and of groups */
	uint32_t group;			    /* of the group's node and all below it */
	uint32_t depth;			    /* 0: CALL_TREE_TOP */
	bool is_inlined;
	struct sum self, total;
};

struct call_tree {
	const struct display_labels *labels;
	struct call_tree_node *nodes;
	uint32_t count, room;
	struct idmap children; /* by (parent and label, group or inlined) */
	uint32_t *by_stack;    /* the node of its leaf … */
	uint32_t *group_of;    /* … below the node of this group, the last one asked for */
	uint32_t stack_count;  /* that there is room for */
	struct stack_path path;
};

/* An empty tree. labels is borrowed. */
void call_tree_init(struct call_tree *tree, const struct display_labels *labels);
void call_tree_deinit(struct call_tree *tree);

/*
 * The node of a group (a process, a thread: the caller numbers them) in the first level of the
 * tree, made at the first call. Use CALL_TREE_TOP instead for a tree without groups.
 */
uint32_t call_tree_group(struct call_tree *tree, uint32_t group);

/* The node of the innermost line of a stack below this group's node, made with all its callers
 * when it is new. The stack without frames is the group's node itself. Fast if calls come
 * group by group. */
uint32_t call_tree_node_of(struct call_tree *tree, uint32_t group_node, stack_id stack);

/* Adds to a node's self. */
void call_tree_add(struct call_tree *tree, uint32_t node, uint64_t samples, uint64_t weight);

/* Computes totals and the lists of children, in the order of creation. After all is added. */
void call_tree_sum_up(struct call_tree *tree);

/* Removes nodes with a total weight below `least`, with all below them, from the lists of children.
 * Returns their number. */
uint32_t call_tree_prune(struct call_tree *tree, uint64_t least);

/* Sorts the lists of children. order must be a total order of siblings. */
typedef int call_tree_order(const struct call_tree *tree, uint32_t a, uint32_t b);
void call_tree_sort(struct call_tree *tree, call_tree_order *order);
/* By total weight, the largest first, then by name. */
call_tree_order call_tree_by_total;
/* By name; groups by number. */
call_tree_order call_tree_by_name;

#endif
