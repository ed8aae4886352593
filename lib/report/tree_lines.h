/*
 * A pruned call tree as lines of text: which nodes share a line, how far a line is indented, and
 *the guides that connect a line to its siblings. How lines are written is up to the caller.
 *
 * A node is indented below its caller only if the caller has other callees that matter, so deep
 * stacks fit on a screen:
 *
 *	main
 *	run
 *	├ parse
 *	│ next
 *	└ write
 *
 * The only callee of a node continues the line of the node, or follows it on a line of its own at
 * the same level.
 */
#ifndef PROF_REPORT_TREE_LINES_H
#define PROF_REPORT_TREE_LINES_H

#include "report/pruned_tree.h"

struct tree_lines_options {
	/* An only callee continues its caller if less than this weight of the caller is elsewhere;
	 * 0: never. */
	uint64_t continue_below;
	bool joins_chains; /* into one line; else each node is a line */
};

struct tree_line {
	uint32_t first, count; /* nodes, from caller to callee */
	uint32_t caller;       /* the line of the caller of the first node; of a root: itself */
	uint32_t level;	       /* 0: a root, and what continues it */
	bool continues;	       /* its caller, on a line of its own */
	bool is_last;	       /* of the callees of the node that the level begins at */
};

struct tree_lines {
	const struct pruned_tree *tree;
	struct tree_line *items;
	uint32_t count;
};

/* Borrows the tree. */
void tree_lines_init(struct tree_lines *lines, const struct pruned_tree *tree,
		     const struct tree_lines_options *options);
void tree_lines_deinit(struct tree_lines *lines);

/* The columns that a level takes. */
enum { TREE_LEVEL_COLUMNS = 2 };

/*
 * The guides before a line ("│ ├ "), of its innermost `levels` levels. is_wrapped: before the
 * further lines of its text, if it takes several. To be freed.
 */
char *tree_line_guides(const struct tree_lines *lines, uint32_t line, uint32_t levels,
		       bool is_wrapped);

/* The marks after a name: " [i]" inlined, " [r]" recursive, " [12 folded]", several or "". To be
 * freed. */
char *tree_node_marks(const struct pruned_node *node);

#endif
