#include "base/alloc.h"
#include "base/printable.h"
#include "cmd/figure.h"
#include "cmd/report.h"

#include <inttypes.h>
#include <string.h>

enum {
	LEVEL_COLUMNS = 2,
	LEAST_NAME = 24,   /* columns that a name gets, however deep it is */
	LINK_NAME = 48,	   /* … and in a chain at most */
	JOINT_COLUMNS = 4, /* before a name on a line of its own */
	CHAIN_LINES = 3,   /* that a chain of calls may take */
};

struct tree {
	const struct report *report;
	const struct pen *pen;
	const struct outline *outline;
	bool upwards; /* callers: with their part of the function in place of self */
	uint64_t min_weight;
	double min_percent;
	uint64_t whole;	  /* of the function whose callers are shown */
	uint32_t *level;  /* by node: how far it is indented */
	bool *is_last;	  /* by node: of its siblings */
	bool *goes_on;	  /* by level: a sibling comes below */
	bool has_inlined; /* something is marked so */
	bool has_recursive;
};

/* One line of calls: from a node down to the one where the way parts, or ends. */
struct chain {
	uint32_t first, count;
	char **names;	 /* shown */
	size_t *columns; /* of them */
};

/* Nothing that matters lies beside the only child. */
static bool is_folded(const struct tree *tree, uint32_t node)
{
	const struct outline_node *nodes = tree->outline->nodes;
	uint64_t min_weight = tree->min_weight;

	if (nodes[node].parent == OUTLINE_NO_PARENT || tree->report->options->no_fold)
		return false;
	if (nodes[nodes[node].parent].children != 1)
		return false;
	return nodes[nodes[node].parent].total.weight - nodes[node].total.weight <
	       (min_weight ? min_weight : 1);
}

static void place_nodes(struct tree *tree)
{
	const struct outline *outline = tree->outline;
	CLEANUP(free_ptr) uint32_t *last_child = xcalloc(outline->count + 1, sizeof(*last_child));

	tree->level = xcalloc(outline->count, sizeof(*tree->level));
	tree->is_last = xcalloc(outline->count, sizeof(*tree->is_last));
	tree->goes_on = xcalloc(outline->count + 1, sizeof(*tree->goes_on));
	for (uint32_t i = 0; i < outline->count; i++) {
		uint32_t parent = outline->nodes[i].parent;

		if (parent == OUTLINE_NO_PARENT)
			continue;
		tree->level[i] = tree->level[parent] + !is_folded(tree, i);
		last_child[parent] = i;
	}
	for (uint32_t i = 0; i < outline->count; i++)
		tree->is_last[i] = outline->nodes[i].parent == OUTLINE_NO_PARENT ||
				   last_child[outline->nodes[i].parent] == i;
}

static void tree_deinit(struct tree *tree)
{
	free(tree->level);
	free(tree->is_last);
	free(tree->goes_on);
}

static const char *marks_of(struct tree *tree, const struct outline_node *node)
{
	tree->has_inlined |= node->is_inlined;
	tree->has_recursive |= node->is_recursive;
	if (node->is_inlined)
		return node->is_recursive ? " [i][r]" : " [i]";
	return node->is_recursive ? " [r]" : "";
}

static size_t at_most(size_t value, size_t most)
{
	return value < most ? value : most;
}

static void chain_init(struct chain *chain, struct tree *tree, uint32_t first, size_t columns)
{
	const struct outline *outline = tree->outline;
	const struct label *labels = tree->report->view.labels.items;

	*chain = (struct chain){.first = first, .count = 1};
	while (first + chain->count < outline->count && is_folded(tree, first + chain->count))
		chain->count++;
	chain->names = xcalloc(chain->count, sizeof(*chain->names));
	chain->columns = xcalloc(chain->count, sizeof(*chain->columns));
	if (chain->count > 1)
		columns = at_most(columns - JOINT_COLUMNS, LINK_NAME);
	for (uint32_t i = 0; i < chain->count; i++) {
		const struct outline_node *node = &outline->nodes[first + i];
		const char *marks = marks_of(tree, node);
		CLEANUP(free_ptr)
		char *name = pen_name(labels[node->label].name, columns - strlen(marks));

		chain->names[i] = xasprintf("%s%s", name, marks);
		chain->columns[i] = printable_columns(chain->names[i]);
	}
}

static void chain_deinit(struct chain *chain)
{
	for (uint32_t i = 0; i < chain->count; i++)
		free(chain->names[i]);
	free(chain->names);
	free(chain->columns);
}

/* How many of the chain are left out in its middle, so that it fits; *from: the first of them. */
static uint32_t find_gap(const struct chain *chain, size_t room, uint32_t *from)
{
	static const size_t joint = 3, gap = 16; /* " > ", "(123 more) > " */
	uint32_t head = 1, tail = chain->count;
	size_t used = chain->columns[0], all = 0;

	for (uint32_t i = 0; i < chain->count; i++)
		all += chain->columns[i] + joint;
	if (all <= room)
		return 0;
	/* The end, where the way parts, tells more than the beginning. */
	used += gap;
	while (tail > head) {
		used += chain->columns[tail - 1] + joint;
		if (used > room && tail < chain->count)
			break;
		tail--;
		if (chain->count - tail <= 2 * head)
			continue;
		used += chain->columns[head] + joint;
		if (head + 1 >= tail || used > room)
			break;
		head++;
	}
	*from = head;
	return tail - head;
}

/* The lines that lead from a node's siblings and those of its callers down past it. */
static void put_guides(const struct tree *tree, uint32_t level, const char *last)
{
	const struct pen *pen = tree->pen;
	uint32_t most = pen->screen->columns / 2 / LEVEL_COLUMNS;
	uint32_t first = level > most ? level - most : 0;

	fputs(screen_style(pen->screen, STYLE_FAINT), pen->out);
	for (uint32_t i = first + 1; i < level; i++)
		fputs(tree->goes_on[i] ? "│ " : "  ", pen->out);
	if (level)
		fputs(last, pen->out);
	fputs(screen_style(pen->screen, STYLE_PLAIN), pen->out);
}

static void put_shares(const struct tree *tree, uint32_t first, uint32_t last)
{
	const struct pen *pen = tree->pen;
	const struct outline_node *nodes = tree->outline->nodes;

	pen_share(pen, nodes[first].total.weight);
	fputc(' ', pen->out);
	if (tree->upwards)
		fprintf(pen->out, "%*s", SHARE_COLUMNS,
			figure_share(nodes[first].total.weight, tree->whole).text);
	else if (nodes[last].self.weight && nodes[last].self.weight >= tree->min_weight)
		pen_share(pen, nodes[last].self.weight);
	else
		pen_padding(pen, 0, SHARE_COLUMNS);
	if (tree->report->options->shows_samples)
		fprintf(pen->out, "%*s", SAMPLES_COLUMNS,
			figure_count(nodes[first].total.samples).text);
	fputs("  ", pen->out);
}

static size_t tree_columns(const struct tree *tree)
{
	return 2 * SHARE_COLUMNS + 3 + (tree->report->options->shows_samples ? SAMPLES_COLUMNS : 0);
}

/* A word of the chain, on the next line where this one is full. */
static void put_link(const struct tree *tree, uint32_t level, size_t room, size_t *used,
		     const char *joint, const char *name, enum screen_style wanted)
{
	const struct pen *pen = tree->pen;
	size_t columns = printable_columns(joint) + printable_columns(name);

	if (*used && *used + columns > room) {
		fprintf(pen->out, "\n%*s", (int)tree_columns(tree), "");
		put_guides(tree, level, tree->goes_on[level] ? "│ " : "  ");
		fputs(" ", pen->out);
		*used = 1;
	}
	pen_styled(pen, STYLE_FAINT, joint);
	pen_styled(pen, wanted, name);
	*used += columns;
}

static void put_chain(struct tree *tree, uint32_t first, uint32_t *count)
{
	const struct pen *pen = tree->pen;
	const char *joint = tree->upwards ? " ← " : " → ";
	uint32_t level = tree->level[first], from = 0, left_out;
	size_t left = tree_columns(tree) + at_most(level * LEVEL_COLUMNS, pen->screen->columns / 2);
	size_t room = pen->screen->columns > left + LEAST_NAME ? pen->screen->columns - left
							       : LEAST_NAME;
	size_t used = 0;
	CLEANUP(chain_deinit) struct chain chain;

	chain_init(&chain, tree, first, room);
	left_out = find_gap(&chain, CHAIN_LINES * room - LINK_NAME / 2, &from);
	tree->goes_on[level] = !tree->is_last[first];
	if (!level)
		tree->whole = tree->outline->nodes[first].total.weight;
	put_shares(tree, first, first + chain.count - 1);
	put_guides(tree, level, tree->is_last[first] ? "└ " : "├ ");
	for (uint32_t i = 0; i < chain.count; i++) {
		uint32_t label = tree->outline->nodes[first + i].label;

		if (left_out && i == from) {
			CLEANUP(free_ptr) char *gap = xasprintf("(%" PRIu32 " more)", left_out);

			put_link(tree, level, room, &used, joint, gap, STYLE_FAINT);
			i += left_out;
		}
		put_link(tree, level, room, &used, i ? joint : "", chain.names[i],
			 pen_style_of_label(pen, label));
	}
	fputc('\n', pen->out);
	*count = chain.count;
}

static void put_legend(const struct tree *tree)
{
	const struct pen *pen = tree->pen;

	fputs(screen_style(pen->screen, STYLE_FAINT), pen->out);
	if (tree->min_weight > 1)
		fprintf(pen->out, "below %g %% is left out (--min)%s", tree->min_percent,
			tree->has_inlined || tree->has_recursive ? "; " : "");
	if (tree->has_inlined)
		fprintf(pen->out, "[i] inlined%s", tree->has_recursive ? "; " : "");
	if (tree->has_recursive)
		fputs("[r] calls itself", pen->out);
	fprintf(pen->out, "%s\n", screen_style(pen->screen, STYLE_PLAIN));
}

void report_tree(const struct report *report, const struct pen *pen, const struct outline *outline,
		 const char *heading)
{
	CLEANUP(tree_deinit)
	struct tree tree = {.report = report,
			    .pen = pen,
			    .outline = outline,
			    .upwards = outline == &report->callers,
			    .min_weight = report->min_tree_weight,
			    .min_percent = report_tree_percent(report->options)};

	if (!outline->count)
		return;
	place_nodes(&tree);
	fprintf(pen->out, "\n%s%*s %*s", screen_style(pen->screen, STYLE_HEADING), SHARE_COLUMNS,
		"total", SHARE_COLUMNS, tree.upwards ? "of it" : "self");
	if (report->options->shows_samples)
		fprintf(pen->out, "%*s", SAMPLES_COLUMNS, "samples");
	fprintf(pen->out, "  %s%s\n", heading, screen_style(pen->screen, STYLE_PLAIN));
	for (uint32_t i = 0, count; i < outline->count; i += count)
		put_chain(&tree, i, &count);
	put_legend(&tree);
}
