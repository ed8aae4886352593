/*
 * The pages of the live view that are call trees: the calls of all samples, or the callers and
 * callees of a function. Each node is a line.
 */
#ifndef PROF_CMD_TOP_TOP_TREE_H
#define PROF_CMD_TOP_TOP_TREE_H

#include "cmd/top/top_line.h"
#include "report/tree_lines.h"

/* A call tree below a heading. */
struct top_tree_part {
	const char *heading; /* or NULL */
	bool is_callers;     /* the tree's self is not the self of the function */
	struct pruned_tree tree;
	struct tree_lines lines;
};

struct top_tree {
	const struct view *view;
	struct top_tree_part parts[2];
	size_t part_count;
};

/* Omits nodes below least_weight. Borrows the view. */
void top_tree_init_calls(struct top_tree *page, const struct view *view, uint64_t least_weight);
/* chosen: the function, by label. */
void top_tree_init_function(struct top_tree *page, const struct view *view, const bool *chosen,
			    uint64_t least_weight);
/* A zeroed page has nothing to free. */
void top_tree_deinit(struct top_tree *page);

size_t top_tree_count(const struct top_tree *page);
/* Returns NULL if the line is a heading or does not exist. */
const struct pruned_node *top_tree_node(const struct top_tree *page, size_t index);
/* columns: the width of the screen. The caller frees the heading. */
char *top_tree_heading(size_t columns);
void top_tree_line(const struct top_tree *page, size_t index, size_t columns, struct top_line *ret);

#endif
