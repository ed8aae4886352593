/*
 * Pruned call trees: a node is part of the tree only if it has a minimum
 * weight, so the cost depends on what is shown, not on the size of the
 * recording. Only the sum of pruned children is known. A function that calls
 * itself directly is one node.
 *
 * A tree leads from the roots down, or from chosen functions down to their
 * callees or up to their callers. Chosen functions are then the roots of the
 * tree. A sample counts once for each of them, at its outermost call in the
 * stack.
 */
#ifndef PROF_REPORT_PRUNED_TREE_H
#define PROF_REPORT_PRUNED_TREE_H

#include "report/view.h"

#define PRUNED_TREE_NO_PARENT UINT32_MAX

struct pruned_node {
	uint32_t label;
	uint32_t parent; /* an index, or PRUNED_TREE_NO_PARENT */
	uint32_t depth;	 /* 0 for a root */
	uint32_t children;
	bool is_inlined;   /* into its caller */
	bool is_recursive; /* it also calls itself */
	/*
	 * The maximum number of lines that the logical view folded before it.
	 */
	uint32_t folded;
	struct sum self; /* of the function itself; in trees of callers, of roots of stacks */
	struct sum total;
	struct sum closed; /* of the pruned children */
};

struct pruned_tree {
	/*
	 * A parent, then its children with their descendants, heaviest first.
	 */
	struct pruned_node *nodes;
	size_t count, room;
	struct sum closed; /* of the pruned roots */
};

/* min_weight: the minimum weight of a node; 0 keeps all. */
void pruned_tree_calls(struct pruned_tree *tree, const struct view *view, uint64_t min_weight);
/* chosen: by label. */
void pruned_tree_callees(struct pruned_tree *tree, const struct view *view, const bool *chosen,
			 uint64_t min_weight);
void pruned_tree_callers(struct pruned_tree *tree, const struct view *view, const bool *chosen,
			 uint64_t min_weight);
/*
 * Prunes nodes below min_weight, except those on the hot path and their
 * callees. The hot path leads from the heaviest root to its heaviest callee, and
 * so on. Returns whether nodes were pruned.
 */
bool pruned_tree_open_hot_path(struct pruned_tree *tree, uint64_t min_weight);
void pruned_tree_deinit(struct pruned_tree *tree);

#endif
