#include "cmd/top/top_tree.h"

#include "base/alloc.h"
#include "base/printable.h"
#include "cmd/ui/table.h"

#include <inttypes.h>

enum { TOP_TREE_LEAST_NAME = 16 /* minimum width of a name at any depth */ };

static struct top_tree_part *top_tree_add_part(struct top_tree *page, const char *heading)
{
	struct top_tree_part *part = &page->parts[page->part_count++];

	*part = (struct top_tree_part){.heading = heading};
	return part;
}

static void top_tree_add_lines(struct top_tree_part *part)
{
	/* An only callee is not indented. */
	static const struct tree_lines_options options = {.continue_below = UINT64_MAX};

	tree_lines_init(&part->lines, &part->tree, &options);
}

void top_tree_init_calls(struct top_tree *page, const struct view *view, uint64_t least_weight)
{
	struct top_tree_part *part;

	*page = (struct top_tree){.view = view};
	part = top_tree_add_part(page, NULL);
	pruned_tree_calls(&part->tree, view, least_weight);
	top_tree_add_lines(part);
}

void top_tree_init_function(struct top_tree *page, const struct view *view, const bool *chosen,
			    uint64_t least_weight)
{
	struct top_tree_part *part;

	*page = (struct top_tree){.view = view};
	part = top_tree_add_part(page, "callers");
	part->is_callers = true;
	pruned_tree_callers(&part->tree, view, chosen, least_weight);
	top_tree_add_lines(part);
	part = top_tree_add_part(page, "callees");
	pruned_tree_callees(&part->tree, view, chosen, least_weight);
	top_tree_add_lines(part);
}

void top_tree_deinit(struct top_tree *page)
{
	for (size_t i = 0; i < page->part_count; i++) {
		tree_lines_deinit(&page->parts[i].lines);
		pruned_tree_deinit(&page->parts[i].tree);
	}
	*page = (struct top_tree){0};
}

size_t top_tree_count(const struct top_tree *page)
{
	size_t count = 0;

	for (size_t i = 0; i < page->part_count; i++)
		count += (page->parts[i].heading != NULL) + page->parts[i].tree.count;
	return count;
}

/* Returns the part that contains a line, or NULL. *line: the line of the tree,
 * or UINT32_MAX for the heading. */
static const struct top_tree_part *part_at(const struct top_tree *page, size_t index,
					   uint32_t *line)
{
	*line = UINT32_MAX;
	for (size_t i = 0; i < page->part_count; i++) {
		const struct top_tree_part *part = &page->parts[i];

		if (part->heading && index-- == 0)
			return part;
		if (index < part->tree.count) {
			*line = (uint32_t)index;
			return part;
		}
		index -= part->tree.count;
	}
	return NULL;
}

const struct pruned_node *top_tree_node(const struct top_tree *page, size_t index)
{
	uint32_t line;
	const struct top_tree_part *part = part_at(page, index, &line);

	return part && line != UINT32_MAX ? &part->tree.nodes[line] : NULL;
}

char *top_tree_heading(size_t columns)
{
	struct top_columns layout = top_columns_of(columns, 0);

	return top_line_heading(&layout, "function", "");
}

static void node_line(const struct top_tree *page, const struct top_tree_part *part, uint32_t line,
		      size_t columns, struct top_line *ret)
{
	struct top_columns layout = top_columns_of(columns, 0);
	const struct pruned_node *node = &part->tree.nodes[line];
	uint64_t all = page->view->stacks[STACK_EMPTY].total.weight;
	const struct top_shares shares = {
		.self = node->self,
		.total = node->total,
		.hides_self = part->is_callers,
		.all = all,
		.bar = node->total.weight,
		.longest_bar = all,
	};
	CLEANUP(free_ptr) char *guides = tree_line_guides(&part->lines, line, UINT32_MAX, false);
	size_t taken = printable_columns(guides) + TOP_TREE_LEAST_NAME;
	size_t room = layout.name > taken ? layout.name - taken + TOP_TREE_LEAST_NAME
					  : TOP_TREE_LEAST_NAME;
	CLEANUP(free_ptr)
	char *name = table_name(page->view->labels.items[node->label].shown, room);
	CLEANUP(free_ptr)
	char *folded = node->folded ? xasprintf(" [%" PRIu32 " folded]", node->folded) : NULL;
	CLEANUP(free_ptr) char *names = xasprintf("%s%s%s", guides, name, folded ? folded : "");

	top_line_init(ret, &layout, &shares, names);
}

void top_tree_line(const struct top_tree *page, size_t index, size_t columns, struct top_line *ret)
{
	uint32_t line;
	const struct top_tree_part *part = part_at(page, index, &line);

	if (line == UINT32_MAX)
		*ret = (struct top_line){.text = xstrdup(part->heading), .is_heading = true};
	else
		node_line(page, part, line, columns, ret);
}
