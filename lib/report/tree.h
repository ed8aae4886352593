/*
 * The call tree as people see it: stacks whose frames have the same labels are one path, whatever
 * addresses they were seen at. Exact, in time linear in the stack trie and the cells.
 *
 * Nodes are dense; a parent's number is below its children's. Node 0, TREE_TOP, stands above all
 * roots and has no label.
 */
#ifndef PROF_REPORT_TREE_H
#define PROF_REPORT_TREE_H

#include "report/labels.h"
#include "report/sum.h"

#define TREE_TOP 0u
#define TREE_NO_LABEL UINT32_MAX

struct tree_node {
	uint32_t parent;
	uint32_t first_child, next_sibling; /* 0: none */
	uint32_t label;			    /* TREE_NO_LABEL: of TREE_TOP and of groups */
	uint32_t group;			    /* of the group's node and all below it */
	uint32_t depth;			    /* 0: TREE_TOP */
	bool is_inlined;
	struct sum self, total;
};

struct tree {
	const struct labels *labels;
	struct tree_node *nodes;
	uint32_t count, room;
	struct idmap children; /* by (parent and label, group or inlined) */
	uint32_t *by_stack;    /* the node of its leaf … */
	uint32_t *group_of;    /* … below the node of this group, the last one asked for */
	uint32_t stack_count;  /* that there is room for */
	stack_id *path;	       /* that is being added, leaf first */
	size_t path_len, path_room;
};

/* An empty tree. labels is borrowed. */
void tree_init(struct tree *tree, const struct labels *labels);
void tree_deinit(struct tree *tree);

/*
 * The node that a first level of the picture has for a group (a process, a thread: whatever the
 * caller numbers so), made at the first call. TREE_TOP may be used in its place: then the stacks
 * are not told apart.
 */
uint32_t tree_group(struct tree *tree, uint32_t group);

/* The node of the innermost line of a stack below this group's node, made with all its callers
 * when it is new. The stack without frames is the group's node itself. It is fast for who comes
 * with one group after the other. */
uint32_t tree_node_of(struct tree *tree, uint32_t group_node, stack_id stack);

/* Adds to a node's self. */
void tree_add(struct tree *tree, uint32_t node, uint64_t samples, uint64_t weight);

/* When all is added: totals are summed up, and the lists of children made, in the order of the
 * nodes' making. */
void tree_sum_up(struct tree *tree);

/* Takes the nodes whose total weight is below `least` out of the lists of children, with all below
 * them. How many. */
uint32_t tree_prune(struct tree *tree, uint64_t least);

/* Relinks the lists of children so. The order may be that of any total order of siblings. */
typedef int tree_order(const struct tree *tree, uint32_t a, uint32_t b);
void tree_sort(struct tree *tree, tree_order *order);
/* By total weight, the largest first, then by name. */
tree_order tree_by_total;
/* By name, groups by their numbers. */
tree_order tree_by_name;

#endif
