#include "report/tree_lines.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_root(const struct pruned_node *node)
{
	return node->parent == PRUNED_TREE_NO_PARENT;
}

static bool continues_caller(const struct pruned_tree *tree, uint32_t node, uint64_t below)
{
	const struct pruned_node *callee = &tree->nodes[node], *caller;

	if (is_root(callee))
		return false;
	caller = &tree->nodes[callee->parent];
	return caller->children == 1 && caller->total.weight - callee->total.weight < below;
}

static void tree_lines_add_line(struct tree_lines *lines, uint32_t node, uint32_t *line_of,
				uint32_t *callees_left, bool continues)
{
	uint32_t parent = lines->tree->nodes[node].parent, index = lines->count++;
	struct tree_line *line = &lines->items[index];

	*line = (struct tree_line){.first = node, .count = 1, .caller = index, .is_last = true};
	if (parent != PRUNED_TREE_NO_PARENT) {
		const struct tree_line *caller = &lines->items[line_of[parent]];

		line->caller = line_of[parent];
		line->continues = continues;
		line->level = caller->level + !continues;
		line->is_last = continues ? caller->is_last : callees_left[parent] == 0;
	}
	line_of[node] = index;
}

void tree_lines_init(struct tree_lines *lines, const struct pruned_tree *tree,
		     const struct tree_lines_options *options)
{
	CLEANUP(free_ptr) uint32_t *line_of = xcalloc(tree->count, sizeof(*line_of));
	CLEANUP(free_ptr) uint32_t *callees_left = xcalloc(tree->count, sizeof(*callees_left));

	*lines = (struct tree_lines){.tree = tree};
	lines->items = xcalloc(tree->count, sizeof(*lines->items));
	for (uint32_t node = 0; node < tree->count; node++) {
		bool continues = continues_caller(tree, node, options->continue_below);

		callees_left[node] = tree->nodes[node].children;
		if (!is_root(&tree->nodes[node]))
			callees_left[tree->nodes[node].parent]--;
		if (continues && options->joins_chains) {
			line_of[node] = line_of[tree->nodes[node].parent];
			lines->items[line_of[node]].count++;
		} else {
			tree_lines_add_line(lines, node, line_of, callees_left, continues);
		}
	}
}

void tree_lines_deinit(struct tree_lines *lines)
{
	free(lines->items);
	*lines = (struct tree_lines){0};
}

/* Returns the first line with the level of a line on the way to the root. */
static uint32_t first_of_level(const struct tree_lines *lines, uint32_t line)
{
	while (lines->items[line].continues)
		line = lines->items[line].caller;
	return line;
}

/*
 * Builds the text from its end, because the path leads from the line to its
 * root.
 */
char *tree_line_guides(const struct tree_lines *lines, uint32_t line, uint32_t levels,
		       bool is_wrapped)
{
	static const char pass[] = "│ ", blank[] = "  ", branch[] = "├ ", corner[] = "└ ";
	const struct tree_line *item = &lines->items[line];
	uint32_t count = item->level < levels ? item->level : levels;
	size_t room = count * strlen(pass), left = room;
	CLEANUP(free_ptr) char *text = xmalloc(room + 1);

	text[room] = '\0';
	for (uint32_t at = line, i = 0; i < count; i++) {
		bool begins = !i && !item->continues && !is_wrapped;
		const char *guide = begins ? (item->is_last ? corner : branch)
					   : (lines->items[at].is_last ? blank : pass);

		left -= strlen(guide);
		memcpy(text + left, guide, strlen(guide));
		at = lines->items[first_of_level(lines, at)].caller;
	}
	return xstrdup(text + left);
}

char *tree_node_marks(const struct pruned_node *node)
{
	const char *inlined = node->is_inlined ? " [i]" : "";
	const char *recursive = node->is_recursive ? "[r]" : "";
	CLEANUP(free_ptr) char *folded = NULL;

	if (!node->is_inlined && node->is_recursive)
		recursive = " [r]";
	if (node->folded)
		folded = xasprintf(" [%" PRIu32 " folded]", node->folded);
	return xasprintf("%s%s%s", inlined, recursive, folded ? folded : "");
}
