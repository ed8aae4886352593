#include "base/alloc.h"
#include "base/printable.h"
#include "cmd/figure.h"
#include "cmd/report.h"
#include "report/shorten.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

enum {
	DEFAULT_ROWS = 20,
	SHARE_COLUMNS = 7, /* "100.0 %" */
	SAMPLES_COLUMNS = 9,
	WIDE = 100,	 /* columns, from where on there is room for a longer bar … */
	VERY_WIDE = 140, /* … and for where functions are */
};

struct pen {
	const struct report *report;
	const struct screen *screen;
	FILE *out;
	struct sum all;
};

static const char *style(const struct pen *pen, enum screen_style wanted)
{
	return screen_style(pen->screen, wanted);
}

static const char *text_of(const struct pen *pen, string_id id)
{
	return profile_string(pen->report->profile, id);
}

/* To be freed. */
static char *shown_name(const char *name, size_t columns)
{
	CLEANUP(free_ptr) char *text = printable(name);

	return shorten(text, columns);
}

static void put_padding(const struct pen *pen, size_t from, size_t to)
{
	fprintf(pen->out, "%*s", from < to ? (int)(to - from) : 0, "");
}

/* The hotter the warmer. */
static void put_share(const struct pen *pen, uint64_t weight)
{
	double share = pen->all.weight ? (double)weight / (double)pen->all.weight : 0;
	enum screen_style heat = share >= 0.1	 ? STYLE_HOT
				 : share >= 0.02 ? STYLE_WARM
						 : STYLE_PLAIN;

	fprintf(pen->out, "%s%*s%s", heat == STYLE_PLAIN ? "" : style(pen, heat), SHARE_COLUMNS,
		figure_share(weight, pen->all.weight).text,
		heat == STYLE_PLAIN ? "" : style(pen, STYLE_PLAIN));
}

static void put_styled(const struct pen *pen, enum screen_style wanted, const char *text)
{
	fprintf(pen->out, "%s%s%s", style(pen, wanted), text, style(pen, STYLE_PLAIN));
}

static void put_heading(const struct pen *pen, const char *text)
{
	put_styled(pen, STYLE_HEADING, text);
	fputc('\n', pen->out);
}

/* Header: what was recorded. */

static void put_line(const struct pen *pen, const char *text)
{
	CLEANUP(free_ptr) char *line = printable(text);

	fprintf(pen->out, "%s\n", line);
}

static void put_time(const struct pen *pen)
{
	const struct profile_info *info = profile_get_info(pen->report->profile);
	time_t seconds = (time_t)(info->start_unix_ns / 1000000000);
	char when[32] = "";
	struct tm local;
	CLEANUP(free_ptr) char *text = NULL;

	if (info->start_unix_ns && localtime_r(&seconds, &local))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &local);
	if (!*when && !info->duration_ns)
		return;
	text = xasprintf("%s%s%s%s%s", when, info->duration_ns ? (*when ? ", for " : "for ") : "",
			 info->duration_ns ? figure_time(info->duration_ns).text : "",
			 *info->host ? ", on " : "", info->host);
	put_line(pen, text);
}

static struct figure figure_weight(const struct pen *pen, const struct profile_event *event,
				   uint64_t weight)
{
	if (event->counts_ns || !strcmp(text_of(pen, event->unit), "nanoseconds"))
		return figure_time(weight);
	if (!strcmp(text_of(pen, event->unit), "bytes"))
		return figure_bytes(weight);
	return figure_count(weight);
}

static void put_event(const struct pen *pen, event_id id)
{
	const struct profile_event *event = profile_get_event(pen->report->profile, id);
	const char *name = text_of(pen, event->name);
	bool is_shown = id == pen->report->view.event;
	bool is_alone = profile_event_count(pen->report->profile) == 1;
	struct sum sum = {0};
	CLEANUP(free_ptr) char *text = NULL;

	for (uint64_t i = 0; i < profile_cell_count(pen->report->profile); i++) {
		const struct profile_cell *cell = profile_get_cell(pen->report->profile, i);

		if (cell->event == id)
			sum_add(&sum, (struct sum){cell->samples, cell->weight});
	}
	if (event->one_value)
		text = xasprintf("%s%s: %s",
				 is_alone   ? ""
				 : is_shown ? "> "
					    : "  ",
				 name, figure_weight(pen, event, sum.weight).text);
	else
		text = xasprintf("%s%s: %s samples, %s%s",
				 is_alone   ? ""
				 : is_shown ? "> "
					    : "  ",
				 name, figure_count(sum.samples).text,
				 figure_weight(pen, event, sum.weight).text,
				 event->counts_ns ? " of CPU time" : "");
	put_line(pen, text);
}

static void put_selection(const struct pen *pen)
{
	const struct view_options *options = &pen->report->options->view;
	uint64_t all = 0;

	if (!options->focus && !options->ignore && !options->process && !options->pid &&
	    !options->tid)
		return;
	for (uint64_t i = 0; i < profile_cell_count(pen->report->profile); i++) {
		const struct profile_cell *cell = profile_get_cell(pen->report->profile, i);

		all += cell->event == pen->report->view.event ? cell->weight : 0;
	}
	fprintf(pen->out, "selected: %s samples, %s of all: shares are of these\n",
		figure_count(pen->all.samples).text, figure_share(pen->all.weight, all).text);
}

static void put_header(const struct pen *pen)
{
	const struct profile_info *info = profile_get_info(pen->report->profile);
	CLEANUP(free_ptr)
	char *title = xasprintf("%s%s%s", pen->report->path, *info->command ? ": " : "",
				info->command);
	CLEANUP(free_ptr) char *line = printable(title);

	put_heading(pen, line);
	put_time(pen);
	if (*info->quality)
		put_line(pen, info->quality);
	for (event_id i = 0; i < profile_event_count(pen->report->profile); i++)
		put_event(pen, i);
	put_selection(pen);
}

/* Table: the hottest. */

static enum top_key key_of(const struct pen *pen)
{
	return pen->report->options->by.key;
}

static const char *heading_of(enum top_key key)
{
	static const char *const headings[] = {
		[TOP_FUNCTION] = "function", [TOP_FILE] = "file",	[TOP_LINE] = "line",
		[TOP_MODULE] = "module",     [TOP_PROCESS] = "process", [TOP_THREAD] = "thread",
	};

	return headings[key];
}

static const char *second_heading_of(enum top_key key)
{
	return key == TOP_FUNCTION ? "module"
	       : key == TOP_LINE   ? "function"
	       : key == TOP_THREAD ? "process"
				   : "";
}

static const char *module_name(const struct pen *pen, uint32_t id)
{
	const struct profile_module *module = profile_get_module(pen->report->profile, id);

	return module->kind == PROFILE_MODULE_KERNEL ? "[kernel]"
						     : basename(text_of(pen, module->path));
}

static enum screen_style style_of_label(const struct pen *pen, uint32_t label)
{
	const struct labels *labels = &pen->report->view.labels;

	if (label == TOP_NO_LABEL)
		return STYLE_PLAIN;
	if (labels->items[label].is_address)
		return STYLE_FAINT;
	switch (labels_kind(labels, label)) {
	case PROFILE_MODULE_KERNEL:
		return STYLE_KERNEL;
	case PROFILE_MODULE_JIT:
		return STYLE_JIT;
	case PROFILE_MODULE_NOTE:
		return STYLE_FAINT;
	default:
		return STYLE_PLAIN;
	}
}

/* "src/parse.c:12", "" when unknown; to be freed. */
static char *place_of_label(const struct pen *pen, uint32_t id)
{
	const struct label *label = &pen->report->view.labels.items[id];

	if (!label->file)
		return xstrdup("");
	if (!label->start_line)
		return xstrdup(text_of(pen, label->file));
	return xasprintf("%s:%" PRIu32, text_of(pen, label->file), label->start_line);
}

/* What a row is called, and what stands behind it; both to be freed. */
struct row_text {
	char *name, *module, *place;
};

static void row_text_deinit(struct row_text *text)
{
	free(text->name);
	free(text->module);
	free(text->place);
}

static char *thread_name(const struct pen *pen, const struct top_row *row)
{
	const struct profile_thread *thread = profile_get_thread(pen->report->profile, row->thread);
	const char *name = *row->name ? row->name : "(no name)";

	if (key_of(pen) == TOP_PROCESS || thread->tid < 0)
		return xstrdup(name);
	return xasprintf("%s %d", name, thread->tid);
}

static char *name_of_row(const struct pen *pen, const struct top_row *row)
{
	switch (key_of(pen)) {
	case TOP_PROCESS:
	case TOP_THREAD:
		return thread_name(pen, row);
	case TOP_MODULE:
		return xstrdup(*row->name ? row->name : "(no module)");
	case TOP_FILE:
		return *row->name ? xstrdup(row->name)
				  : xasprintf("(no file known) %s", module_name(pen, row->module));
	case TOP_LINE:
		if (row->file)
			return xasprintf("%s:%" PRIu32, text_of(pen, row->file), row->line);
		return xasprintf("(no line known) %s", row->name);
	case TOP_FUNCTION:
		break;
	}
	return xstrdup(row->name);
}

static struct row_text text_of_row(const struct pen *pen, const struct top_row *row)
{
	struct row_text text = {.name = name_of_row(pen, row)};

	switch (key_of(pen)) {
	case TOP_PROCESS:
	case TOP_MODULE:
	case TOP_FILE:
		text.module = xstrdup("");
		break;
	case TOP_THREAD:
		text.module = xstrdup(text_of(
			pen, profile_get_thread(pen->report->profile, row->thread)->process));
		break;
	case TOP_LINE:
		text.module = xstrdup(row->file ? row->name : module_name(pen, row->module));
		break;
	case TOP_FUNCTION:
		text.module = xstrdup(module_name(pen, row->module));
		text.place = place_of_label(pen, row->label);
		break;
	}
	if (!text.place)
		text.place = xstrdup("");
	return text;
}

struct layout {
	size_t rows;
	size_t bar, name, module, place; /* columns */
	uint64_t longest_bar;		 /* weight */
};

static uint64_t bar_weight(const struct pen *pen, const struct top_row *row)
{
	return pen->report->options->by.order == TOP_BY_TOTAL ? row->total.weight
							      : row->self.weight;
}

static bool is_asked_for(const struct pen *pen, const struct top_row *row)
{
	return !pen->report->chosen || pen->report->chosen[row->label];
}

/* Rows that matter, whatever they are sorted by. */
static bool is_shown(const struct pen *pen, const struct top_row *row)
{
	const struct report *report = pen->report;
	uint64_t weight = report->options->by.order == TOP_BY_SELF ? row->self.weight
								   : row->total.weight;

	if (report->chosen)
		return row->total.weight >= report->min_tree_weight;
	return weight && weight >= report->min_weight;
}

static size_t at_most(size_t value, size_t most)
{
	return value < most ? value : most;
}

/* Left of the names: shares, bar, samples. */
static size_t left_columns(const struct pen *pen, const struct layout *layout)
{
	return 2 * SHARE_COLUMNS + 1 + (pen->report->options->shows_samples ? SAMPLES_COLUMNS : 0) +
	       1 + layout->bar + 1;
}

static void widen(size_t *columns, const char *text)
{
	size_t wanted = printable_columns(text);

	if (wanted > *columns)
		*columns = wanted;
}

static struct layout find_layout(const struct pen *pen)
{
	const struct top *top = &pen->report->top;
	size_t columns = pen->screen->columns, limit = pen->report->options->limit, room;
	enum top_key key = key_of(pen);
	struct layout layout = {.bar = columns < WIDE ? 6 : 10, .name = strlen(heading_of(key))};

	for (size_t i = 0; i < top->count; i++) {
		CLEANUP(row_text_deinit) struct row_text text = {0};

		if (layout.rows >= (limit ? limit : DEFAULT_ROWS))
			break;
		if (!is_asked_for(pen, &top->rows[i]) || !is_shown(pen, &top->rows[i]))
			continue;
		text = text_of_row(pen, &top->rows[i]);
		layout.rows++;
		widen(&layout.name, text.name);
		widen(&layout.module, text.module);
		widen(&layout.place, text.place);
		if (bar_weight(pen, &top->rows[i]) > layout.longest_bar)
			layout.longest_bar = bar_weight(pen, &top->rows[i]);
	}
	layout.module = at_most(layout.module, columns / 5);
	layout.place = columns < VERY_WIDE ? 0 : at_most(layout.place, columns / 4);
	room = columns - left_columns(pen, &layout) - (layout.module ? layout.module + 2 : 0) -
	       (layout.place ? layout.place + 2 : 0);
	layout.name = at_most(layout.name, room);
	return layout;
}

/* In eighths of a column. */
static void put_bar(const struct pen *pen, const struct layout *layout, uint64_t weight)
{
	static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	double share = layout->longest_bar ? (double)weight / (double)layout->longest_bar : 0;
	size_t eighths = (size_t)(share * (double)layout->bar * 8 + 0.5), column;

	for (column = 0; column < eighths / 8; column++)
		fputs("█", pen->out);
	if (eighths % 8) {
		fputs(parts[eighths % 8], pen->out);
		column++;
	}
	put_padding(pen, column, layout->bar);
}

static void put_table_head(const struct pen *pen, const struct layout *layout)
{
	enum top_key key = key_of(pen);
	bool has_place = layout->place;

	fprintf(pen->out, "\n%s%*s %*s", style(pen, STYLE_HEADING), SHARE_COLUMNS, "self",
		SHARE_COLUMNS, "total");
	if (pen->report->options->shows_samples)
		fprintf(pen->out, "%*s", SAMPLES_COLUMNS, "samples");
	fprintf(pen->out, " %*s %s", (int)layout->bar, "", heading_of(key));
	if (layout->module) {
		put_padding(pen, strlen(heading_of(key)), layout->name + 2);
		fputs(second_heading_of(key), pen->out);
	}
	if (has_place) {
		put_padding(pen, strlen(second_heading_of(key)), layout->module + 2);
		fputs("where it is", pen->out);
	}
	fprintf(pen->out, "%s\n", style(pen, STYLE_PLAIN));
}

static void put_row(const struct pen *pen, const struct layout *layout, const struct top_row *row)
{
	CLEANUP(row_text_deinit) struct row_text text = text_of_row(pen, row);
	CLEANUP(free_ptr) char *name = shown_name(text.name, layout->name);
	CLEANUP(free_ptr) char *module = shown_name(text.module, layout->module);
	CLEANUP(free_ptr) char *place = shown_name(text.place, layout->place);

	put_share(pen, row->self.weight);
	fputc(' ', pen->out);
	put_share(pen, row->total.weight);
	if (pen->report->options->shows_samples)
		fprintf(pen->out, "%*s", SAMPLES_COLUMNS,
			figure_count(pen->report->options->by.order == TOP_BY_TOTAL
					     ? row->total.samples
					     : row->self.samples)
				.text);
	fputc(' ', pen->out);
	put_bar(pen, layout, bar_weight(pen, row));
	fputc(' ', pen->out);
	put_styled(pen, style_of_label(pen, row->label), name);
	if (*module || *place) {
		put_padding(pen, printable_columns(name), layout->name + 2);
		put_styled(pen, STYLE_FAINT, module);
	}
	if (*place && layout->place) {
		put_padding(pen, printable_columns(module), layout->module + 2);
		put_styled(pen, STYLE_FAINT, place);
	}
	fputc('\n', pen->out);
}

static void put_rest(const struct pen *pen, const struct layout *layout, size_t hidden,
		     uint64_t hidden_weight)
{
	const char *what = heading_of(key_of(pen));
	bool ends_in_s = what[strlen(what) - 1] == 's';

	if (hidden)
		fprintf(pen->out, "%s%*s%*s and %s more %s%s%s\n", style(pen, STYLE_FAINT),
			SHARE_COLUMNS, figure_share(hidden_weight, pen->all.weight).text,
			(int)(left_columns(pen, layout) - SHARE_COLUMNS - 1), "",
			figure_count(hidden).text, what,
			hidden == 1 ? ""
			: ends_in_s ? "es"
				    : "s",
			style(pen, STYLE_PLAIN));
}

static void put_table(const struct pen *pen)
{
	const struct top *top = &pen->report->top;
	struct layout layout = find_layout(pen);
	size_t shown = 0, hidden = 0;
	uint64_t hidden_weight = 0;

	if (!layout.rows)
		return;
	put_table_head(pen, &layout);
	for (size_t i = 0; i < top->count; i++) {
		if (!is_asked_for(pen, &top->rows[i]))
			continue;
		if (shown < layout.rows && is_shown(pen, &top->rows[i])) {
			put_row(pen, &layout, &top->rows[i]);
			shown++;
		} else if (top->rows[i].self.weight) {
			hidden_weight += top->rows[i].self.weight;
			hidden++;
		}
	}
	put_rest(pen, &layout, hidden, hidden_weight);
}

/* Tree: calls, as far as they matter. */

enum {
	LEVEL_COLUMNS = 2,
	LEAST_NAME = 24,   /* columns that a name gets, however deep it is */
	LINK_NAME = 48,	   /* … and in a chain at most */
	JOINT_COLUMNS = 4, /* before a name on a line of its own */
	CHAIN_LINES = 3,   /* that a chain of calls may take */
};

struct tree_pen {
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
static bool is_folded(const struct tree_pen *tree, uint32_t node)
{
	const struct outline_node *nodes = tree->outline->nodes;
	uint64_t min_weight = tree->min_weight;

	if (nodes[node].parent == OUTLINE_NO_PARENT || tree->pen->report->options->no_fold)
		return false;
	if (nodes[nodes[node].parent].children != 1)
		return false;
	return nodes[nodes[node].parent].total.weight - nodes[node].total.weight <
	       (min_weight ? min_weight : 1);
}

static void place_nodes(struct tree_pen *tree)
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

static void tree_pen_deinit(struct tree_pen *tree)
{
	free(tree->level);
	free(tree->is_last);
	free(tree->goes_on);
}

static const char *marks_of(struct tree_pen *tree, const struct outline_node *node)
{
	tree->has_inlined |= node->is_inlined;
	tree->has_recursive |= node->is_recursive;
	if (node->is_inlined)
		return node->is_recursive ? " [i][r]" : " [i]";
	return node->is_recursive ? " [r]" : "";
}

static void chain_init(struct chain *chain, struct tree_pen *tree, uint32_t first, size_t columns)
{
	const struct outline *outline = tree->outline;
	const struct label *labels = tree->pen->report->view.labels.items;

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
		char *name = shown_name(labels[node->label].name, columns - strlen(marks));

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
static void put_guides(const struct tree_pen *tree, uint32_t level, const char *last)
{
	const struct pen *pen = tree->pen;
	uint32_t most = pen->screen->columns / 2 / LEVEL_COLUMNS;
	uint32_t first = level > most ? level - most : 0;

	fputs(style(pen, STYLE_FAINT), pen->out);
	for (uint32_t i = first + 1; i < level; i++)
		fputs(tree->goes_on[i] ? "│ " : "  ", pen->out);
	if (level)
		fputs(last, pen->out);
	fputs(style(pen, STYLE_PLAIN), pen->out);
}

static void put_shares(const struct tree_pen *tree, uint32_t first, uint32_t last)
{
	const struct pen *pen = tree->pen;
	const struct outline_node *nodes = tree->outline->nodes;

	put_share(pen, nodes[first].total.weight);
	fputc(' ', pen->out);
	if (tree->upwards)
		fprintf(pen->out, "%*s", SHARE_COLUMNS,
			figure_share(nodes[first].total.weight, tree->whole).text);
	else if (nodes[last].self.weight && nodes[last].self.weight >= tree->min_weight)
		put_share(pen, nodes[last].self.weight);
	else
		put_padding(pen, 0, SHARE_COLUMNS);
	if (pen->report->options->shows_samples)
		fprintf(pen->out, "%*s", SAMPLES_COLUMNS,
			figure_count(nodes[first].total.samples).text);
	fputs("  ", pen->out);
}

static size_t tree_columns(const struct tree_pen *tree)
{
	return 2 * SHARE_COLUMNS + 3 +
	       (tree->pen->report->options->shows_samples ? SAMPLES_COLUMNS : 0);
}

/* A word of the chain, on the next line where this one is full. */
static void put_link(const struct tree_pen *tree, uint32_t level, size_t room, size_t *used,
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
	put_styled(pen, STYLE_FAINT, joint);
	put_styled(pen, wanted, name);
	*used += columns;
}

static void put_chain(struct tree_pen *tree, uint32_t first, uint32_t *count)
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
			 style_of_label(pen, label));
	}
	fputc('\n', pen->out);
	*count = chain.count;
}

static void put_legend(const struct tree_pen *tree)
{
	const struct pen *pen = tree->pen;

	fputs(style(pen, STYLE_FAINT), pen->out);
	if (tree->min_weight > 1)
		fprintf(pen->out, "below %g %% is left out (--min)%s", tree->min_percent,
			tree->has_inlined || tree->has_recursive ? "; " : "");
	if (tree->has_inlined)
		fprintf(pen->out, "[i] inlined%s", tree->has_recursive ? "; " : "");
	if (tree->has_recursive)
		fputs("[r] calls itself", pen->out);
	fprintf(pen->out, "%s\n", style(pen, STYLE_PLAIN));
}

static void put_tree(const struct pen *pen, const struct outline *outline, const char *heading,
		     bool upwards)
{
	CLEANUP(tree_pen_deinit)
	struct tree_pen tree = {.pen = pen,
				.outline = outline,
				.upwards = upwards,
				.min_weight = pen->report->min_tree_weight,
				.min_percent = report_tree_percent(pen->report->options)};

	if (!outline->count)
		return;
	place_nodes(&tree);
	fprintf(pen->out, "\n%s%*s %*s", style(pen, STYLE_HEADING), SHARE_COLUMNS, "total",
		SHARE_COLUMNS, upwards ? "of it" : "self");
	if (pen->report->options->shows_samples)
		fprintf(pen->out, "%*s", SAMPLES_COLUMNS, "samples");
	fprintf(pen->out, "  %s%s\n", heading, style(pen, STYLE_PLAIN));
	for (uint32_t i = 0, count; i < outline->count; i += count)
		put_chain(&tree, i, &count);
	put_legend(&tree);
}

void report_text(const struct report *report, struct screen *screen)
{
	struct pen pen = {.report = report,
			  .screen = screen,
			  .out = screen->out,
			  .all = report->view.totals[STACK_EMPTY]};

	put_header(&pen);
	if (!pen.all.weight) {
		fputs("\nno samples\n", pen.out);
		return;
	}
	put_table(&pen);
	put_tree(&pen, &report->calls, "calls", false);
	put_tree(&pen, &report->callers, "who calls it", true);
	put_tree(&pen, &report->callees, "what it calls", false);
}
