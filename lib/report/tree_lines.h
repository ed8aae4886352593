/*
 * A pruned call tree as lines of text: which nodes share a line, how far a line
 * is indented, and the guides that connect a line to its siblings. The caller
 * writes the lines.
 *
 * A node is indented below its caller only if the caller has other callees that
 * matter, so that deep stacks fit on a screen:
 *
 *	main
 *	run
 *	├ parse
 *	│ next
 *	└ write
 *
 * The only callee of a node continues the node's line, or follows it on a line
 * of its own at the same level.
 */
#ifndef PROF_REPORT_TREE_LINES_H
#define PROF_REPORT_TREE_LINES_H

#include "report/pruned_tree.h"

struct tree_lines_options {
	/*
	 * An only callee continues its caller's line if less than this weight
	 * of the caller is elsewhere. 0 means never.
	 */
	uint64_t continue_below;
	bool joins_chains; /* into one line; else each node is a line */
};

struct tree_line {
	uint32_t first, count; /* nodes, from caller to callee */
	/*
	 * The line with the first node's caller; a root's line is its own
	 * caller.
	 */
	uint32_t caller;
	uint32_t level; /* 0 for a root and the lines that continue it */
	bool continues; /* continues its caller on a line of its own */
	bool is_last;	/* the last callee of the node at which its level starts */
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

/* The width of a level in columns. */
enum { TREE_LEVEL_COLUMNS = 2 };

/*
 * Returns the guides before a line ("│ ├ ") for its innermost `levels` levels.
 * is_wrapped: the guides before further lines of a text that takes several. The
 * caller frees the result.
 */
char *tree_line_guides(const struct tree_lines *lines, uint32_t line, uint32_t levels,
		       bool is_wrapped);

/*
 * Returns the marks after a name: " [i]" inlined, " [r]" recursive, " [12
 * folded]"; one, several or "". The caller frees the result.
 */
char *tree_node_marks(const struct pruned_node *node);

#endif
