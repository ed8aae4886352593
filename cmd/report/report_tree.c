#include "base/alloc.h"
#include "base/humanize.h"
#include "base/printable.h"
#include "cmd/report/report.h"
#include "report/tree_lines.h"

#include <inttypes.h>
#include <string.h>

enum {
	REPORT_TREE_LEAST_NAME = 24, /* minimum width of a name at any depth */
	LINK_NAME = 48,		     /* maximum width in a chain of calls */
	JOINT_COLUMNS = 4,	     /* indentation of a name on a line of its own */
	CHAIN_LINES = 3,	     /* maximum number of screen lines for a chain of calls */
};

struct tree {
	const struct report *report;
	const struct table_writer *writer;
	const struct pruned_tree *pruned;
	struct tree_lines lines;
	bool upwards;	/* callers, with their part of the function instead of self */
	uint64_t whole; /* weight of the function whose callers are shown */
};

/* The names on a line of calls. */
struct chain {
	uint32_t line, first, count;
	char **names;	 /* as printed, with marks */
	size_t *columns; /* widths of the names */
};

static size_t report_tree_at_most(size_t value, size_t most)
{
	return value < most ? value : most;
}

static void chain_init(struct chain *chain, const struct tree *tree, uint32_t line, size_t columns)
{
	const struct label *labels = tree->report->view.labels.items;
	const struct tree_line *item = &tree->lines.items[line];

	*chain = (struct chain){.line = line, .first = item->first, .count = item->count};
	chain->names = xcalloc(chain->count, sizeof(*chain->names));
	chain->columns = xcalloc(chain->count, sizeof(*chain->columns));
	if (chain->count > 1)
		columns = report_tree_at_most(columns - JOINT_COLUMNS, LINK_NAME);
	for (uint32_t i = 0; i < chain->count; i++) {
		const struct pruned_node *node = &tree->pruned->nodes[chain->first + i];
		CLEANUP(free_ptr) char *marks = tree_node_marks(node);
		CLEANUP(free_ptr)
		char *name = table_name(labels[node->label].shown, columns - strlen(marks));

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

/* Returns the number of calls to omit in the middle of a chain so that it fits.
 * *from: the first of them. */
static uint32_t find_gap(const struct chain *chain, size_t room, uint32_t *from)
{
	static const size_t joint = 3, gap = 16; /* " > ", "(123 more) > " */
	uint32_t head = 1, tail = chain->count;
	size_t used = chain->columns[0], all = 0;

	for (uint32_t i = 0; i < chain->count; i++)
		all += chain->columns[i] + joint;
	if (all <= room)
		return 0;
	/* The end of a chain is more useful than its start. */
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

static void put_guides(const struct tree *tree, uint32_t line, bool is_wrapped)
{
	uint32_t levels = tree->writer->pager->columns / 2 / TREE_LEVEL_COLUMNS;
	CLEANUP(free_ptr)
	char *guides = tree_line_guides(&tree->lines, line, levels, is_wrapped);

	table_styled(tree->writer, STYLE_FAINT, guides);
}

static void report_tree_put_shares(const struct tree *tree, uint32_t first, uint32_t last)
{
	const struct table_writer *writer = tree->writer;
	const struct pruned_node *nodes = tree->pruned->nodes;

	table_share(writer, nodes[first].total.weight);
	fputc(' ', writer->out);
	if (tree->upwards)
		fprintf(writer->out, "%*s", SHARE_COLUMNS,
			humanize_share(nodes[first].total.weight, tree->whole).text);
	else if (nodes[last].self.weight &&
		 nodes[last].self.weight >= tree->report->min_tree_weight)
		table_share(writer, nodes[last].self.weight);
	else
		table_padding(writer, 0, SHARE_COLUMNS);
	if (tree->report->options->shows_samples)
		fprintf(writer->out, "%*s", SAMPLES_COLUMNS,
			humanize_count(nodes[first].total.samples).text);
	fputs("  ", writer->out);
}

static size_t tree_columns(const struct tree *tree)
{
	return 2 * SHARE_COLUMNS + 3 + (tree->report->options->shows_samples ? SAMPLES_COLUMNS : 0);
}

/* The position of the next name of a chain. */
struct cursor {
	uint32_t line;
	size_t used, room; /* columns of the screen line */
};

/* Prints a name of the chain, on the next screen line if this one is full. */
static void put_link(const struct tree *tree, struct cursor *cursor, const char *joint,
		     const char *name, enum style wanted)
{
	const struct table_writer *writer = tree->writer;
	size_t columns = printable_columns(joint) + printable_columns(name);

	if (cursor->used && cursor->used + columns > cursor->room) {
		fprintf(writer->out, "\n%*s", (int)tree_columns(tree), "");
		put_guides(tree, cursor->line, true);
		fputs(" ", writer->out);
		cursor->used = 1;
	}
	table_styled(writer, STYLE_FAINT, joint);
	table_styled(writer, wanted, name);
	cursor->used += columns;
}

static void put_links(const struct tree *tree, const struct chain *chain, size_t room)
{
	const char *joint = tree->upwards ? " ← " : " → ";
	struct cursor cursor = {.line = chain->line, .room = room};
	uint32_t from = 0, left_out = find_gap(chain, CHAIN_LINES * room - LINK_NAME / 2, &from);

	for (uint32_t i = 0; i < chain->count; i++) {
		if (left_out && i == from) {
			CLEANUP(free_ptr) char *gap = xasprintf("(%" PRIu32 " more)", left_out);

			put_link(tree, &cursor, joint, gap, STYLE_FAINT);
			i += left_out;
		}
		put_link(tree, &cursor, i ? joint : "", chain->names[i],
			 table_style_of_label(tree->writer,
					      tree->pruned->nodes[chain->first + i].label));
	}
}

static void report_tree_put_line(struct tree *tree, uint32_t line)
{
	const struct tree_line *item = &tree->lines.items[line];
	size_t columns = tree->writer->pager->columns;
	size_t left = tree_columns(tree) +
		      report_tree_at_most(item->level * TREE_LEVEL_COLUMNS, columns / 2);
	size_t room = columns > left + REPORT_TREE_LEAST_NAME ? columns - left
							      : REPORT_TREE_LEAST_NAME;
	CLEANUP(chain_deinit) struct chain chain;

	if (!item->level)
		tree->whole = tree->pruned->nodes[item->first].total.weight;
	chain_init(&chain, tree, line, room);
	report_tree_put_shares(tree, item->first, item->first + item->count - 1);
	put_guides(tree, line, false);
	put_links(tree, &chain, room);
	fputc('\n', tree->writer->out);
}

/* The legend of a tree, which continues on the next line if this one is full. */
struct legend {
	const struct table_writer *writer;
	size_t used; /* columns */
};

static void put_mark(struct legend *legend, bool is_used, const char *words)
{
	FILE *out = legend->writer->out;
	size_t columns = printable_columns(words) + strlen("; ");

	if (!is_used)
		return;
	if (legend->used) {
		bool is_full = legend->used + columns > legend->writer->pager->columns;

		fputs(is_full ? ";\n" : "; ", out);
		legend->used = is_full ? 0 : legend->used;
	}
	fputs(words, out);
	legend->used += columns;
}

static void report_tree_put_legend(const struct tree *tree)
{
	const struct table_writer *writer = tree->writer;
	const struct report *report = tree->report;
	struct legend legend = {.writer = writer};
	bool has_inlined = false, has_recursive = false, has_folded = false;
	CLEANUP(free_ptr)
	char *omitted = xasprintf("below %g %% omitted", report->min_tree_percent);
	CLEANUP(free_ptr)
	char *branches = xasprintf("below %d %% off the hot path (--min)", REPORT_BRANCH_PERCENT);
	CLEANUP(free_ptr) char *alone = xasprintf("%s (--min)", omitted);

	for (size_t i = 0; i < tree->pruned->count; i++) {
		has_inlined |= tree->pruned->nodes[i].is_inlined;
		has_recursive |= tree->pruned->nodes[i].is_recursive;
		has_folded |= tree->pruned->nodes[i].folded;
	}
	fputs(pager_sequence(writer->pager, STYLE_FAINT), writer->out);
	put_mark(&legend, report->opens_hot_path || report->min_tree_weight > 1,
		 report->opens_hot_path ? omitted : alone);
	put_mark(&legend, report->opens_hot_path, branches);
	put_mark(&legend, has_inlined, "[i] inlined");
	put_mark(&legend, has_recursive, "[r] recursive");
	put_mark(&legend, has_folded, "[N folded] calls of runtime code before it");
	fprintf(writer->out, "%s\n", pager_sequence(writer->pager, STYLE_PLAIN));
}

static void report_tree_put_heading(const struct tree *tree, const char *heading)
{
	const struct table_writer *writer = tree->writer;

	fprintf(writer->out, "\n%s%*s %*s", pager_sequence(writer->pager, STYLE_HEADING),
		SHARE_COLUMNS, "total", SHARE_COLUMNS, tree->upwards ? "of it" : "self");
	if (tree->report->options->shows_samples)
		fprintf(writer->out, "%*s", SAMPLES_COLUMNS, "samples");
	fprintf(writer->out, "  %s%s\n", heading, pager_sequence(writer->pager, STYLE_PLAIN));
}

void report_tree(const struct report *report, const struct table_writer *writer,
		 const struct pruned_tree *pruned, const char *heading)
{
	uint64_t least = report->min_tree_weight;
	const struct tree_lines_options options = {
		.continue_below = report->options->no_fold ? 0
				  : least		   ? least
							   : 1,
		.joins_chains = true,
	};
	struct tree tree = {.report = report,
			    .writer = writer,
			    .pruned = pruned,
			    .upwards = pruned == &report->callers};

	if (!pruned->count)
		return;
	tree_lines_init(&tree.lines, pruned, &options);
	report_tree_put_heading(&tree, heading);
	for (uint32_t i = 0; i < tree.lines.count; i++)
		report_tree_put_line(&tree, i);
	report_tree_put_legend(&tree);
	tree_lines_deinit(&tree.lines);
}
