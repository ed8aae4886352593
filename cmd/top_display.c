#include "cmd/top_display.h"

#include "base/alloc.h"
#include "base/printable.h"
#include "cmd/bar.h"
#include "cmd/branches.h"
#include "cmd/figure.h"
#include "cmd/top_source.h"
#include "report/shorten.h"
#include "report/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
	WIDE = 100, /* columns, from where on there is room for a longer bar */
	GAP = 2,
	HOT_SHARE = 10, /* one of so many */
	WARM_SHARE = 50,
	LEAST_NAME = 16, /* columns */
	PAGES_MAX = 32,	 /* to go back to */
};

/* A call tree on a page, below a heading. */
struct part {
	const char *heading; /* NULL: none */
	bool is_callers;
	struct outline outline;
	struct branches branches;
};

struct display {
	struct display_options options;
	struct display_options earlier[PAGES_MAX];
	unsigned earlier_count;
	bool has_view;
	struct view view;
	bool has_regex;
	regex_t regex; /* of the filter */
	struct top top;
	uint32_t *rows; /* of top: those that are shown */
	size_t row_count;
	size_t module_columns; /* of the widest name of a module */
	struct part parts[2];
	size_t part_count;
	struct top_source *source; /* NULL: it is not shown */
};

static void options_deinit(struct display_options *options)
{
	free(options->function);
	free(options->process);
	free(options->module);
	free(options->filter);
	free(options->function_path);
}

static char *copy_or_null(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

static struct display_options copy_options(const struct display_options *options)
{
	struct display_options copy = *options;

	copy.function = copy_or_null(options->function);
	copy.process = copy_or_null(options->process);
	copy.module = copy_or_null(options->module);
	copy.filter = copy_or_null(options->filter);
	copy.function_path = copy_or_null(options->function_path);
	return copy;
}

static void set_text(char **field, const char *text)
{
	char *copy = copy_or_null(text);

	free(*field);
	*field = copy;
}

struct display *display_new(void)
{
	struct display *display = xcalloc(1, sizeof(*display));

	display->options.least_share = 0.005;
	return display;
}

static void forget_view(struct display *display)
{
	if (!display->has_view)
		return;
	for (size_t i = 0; i < display->part_count; i++) {
		branches_deinit(&display->parts[i].branches);
		outline_deinit(&display->parts[i].outline);
	}
	display->part_count = 0;
	free(display->rows);
	display->rows = NULL;
	display->row_count = 0;
	if (display->has_regex)
		regfree(&display->regex);
	display->has_regex = false;
	top_deinit(&display->top);
	view_deinit(&display->view);
	display->has_view = false;
}

void display_free(struct display *display)
{
	if (!display)
		return;
	forget_view(display);
	top_source_free(display->source);
	while (display->earlier_count)
		options_deinit(&display->earlier[--display->earlier_count]);
	options_deinit(&display->options);
	free(display);
}

struct display_options *display_options(struct display *display)
{
	return &display->options;
}

/* Without a capital letter it matches those, too. */
static struct error *compile(const char *text, regex_t *ret)
{
	int flags = REG_EXTENDED | REG_NOSUB | REG_ICASE, refusal;
	char why[128];

	for (const char *at = text; *at; at++)
		if (isupper((unsigned char)*at))
			flags &= ~REG_ICASE;
	refusal = regcomp(ret, text, flags);
	if (!refusal)
		return NULL;
	regerror(refusal, ret, why, sizeof(why));
	return error_new("\"%s\": %s", text, why);
}

struct error *display_set_filter(struct display *display, const char *text)
{
	struct error *err;
	regex_t regex;

	if (*text) {
		err = compile(text, &regex);
		if (err)
			return err;
		regfree(&regex);
	}
	set_text(&display->options.filter, *text ? text : NULL);
	return NULL;
}

static const char *path_of(const struct display *display, uint32_t module)
{
	const struct profile *profile = display->view.profile;

	return profile_string(profile, profile_get_module(profile, module)->path);
}

static uint64_t least_weight(const struct display *display)
{
	uint64_t all = display->view.stacks[STACK_EMPTY].total.weight;

	return (uint64_t)((double)all * display->options.least_share) + 1;
}

/* What rows are sorted by, and bars are of. */
static struct sum drawn_sum(const struct display *display, const struct top_row *row)
{
	return display->options.order == TOP_BY_TOTAL ? row->total : row->self;
}

static bool is_shown(const struct display *display, const struct top_row *row)
{
	bool of_function = display->options.by == TOP_FUNCTION;
	CLEANUP(free_ptr) char *name = NULL;

	if (of_function && display->options.module &&
	    strcmp(path_of(display, row->module), display->options.module) != 0)
		return false;
	if (display->options.leaves_out && drawn_sum(display, row).weight < least_weight(display))
		return false;
	if (!display->has_regex)
		return true;
	name = words_of_row(&display->view, display->options.by, row);
	return regexec(&display->regex, name, 0, NULL, 0) == 0 ||
	       (of_function &&
		regexec(&display->regex, words_of_module(display->view.profile, row->module), 0,
			NULL, 0) == 0);
}

static size_t widest_module(const struct display *display)
{
	size_t most = strlen("module");

	for (size_t i = 0; i < display->row_count; i++) {
		const struct top_row *row = &display->top.rows[display->rows[i]];
		size_t columns =
			printable_columns(words_of_module(display->view.profile, row->module));

		if (columns > most)
			most = columns;
	}
	return most;
}

static void update_table(struct display *display)
{
	struct top *top = &display->top;

	/* It has been tried when it was set. */
	if (display->options.filter) {
		struct error *err = compile(display->options.filter, &display->regex);

		display->has_regex = !err;
		error_free(err);
	}
	top_init(top, &display->view, display->options.by);
	if (display->options.order != TOP_BY_SELF) /* which they are made in */
		top_sort(top, display->options.order);
	display->rows = xcalloc(top->count, sizeof(*display->rows));
	for (uint32_t i = 0; i < top->count; i++)
		if (is_shown(display, &top->rows[i]))
			display->rows[display->row_count++] = i;
	display->module_columns = widest_module(display);
}

static void add_part(struct display *display, const char *heading, struct outline outline)
{
	struct part *part = &display->parts[display->part_count++];

	*part = (struct part){.heading = heading, .outline = outline};
	branches_init(&part->branches, &part->outline);
}

static void update_calls(struct display *display)
{
	struct outline outline;

	outline_calls(&outline, &display->view, least_weight(display));
	add_part(display, NULL, outline);
}

/* Functions of the same name in other modules are others. */
static bool *labels_of_function(const struct display *display)
{
	const struct labels *labels = &display->view.labels;
	bool *chosen = xcalloc(labels->count, sizeof(*chosen));

	for (uint32_t i = 0; i < labels->count; i++)
		chosen[i] = !strcmp(labels->items[i].name, display->options.function) &&
			    !strcmp(path_of(display, labels->items[i].module),
				    display->options.function_path);
	return chosen;
}

static void update_function(struct display *display)
{
	CLEANUP(free_ptr) bool *chosen = labels_of_function(display);
	struct outline callers, callees;

	outline_callers(&callers, &display->view, chosen, least_weight(display));
	add_part(display, "its callers", callers);
	display->parts[0].is_callers = true;
	outline_callees(&callees, &display->view, chosen, least_weight(display));
	add_part(display, "what it calls", callees);
}

/* The same one from picture to picture: what it has opened stays open. */
static void update_source(struct display *display)
{
	CLEANUP(free_ptr) bool *chosen = labels_of_function(display);
	const struct display_options *options = &display->options;

	if (!display->source)
		display->source = top_source_new(options->function, options->debug_dir);
	top_source_update(display->source, &display->view, chosen, options->columns);
}

static void close_source(struct display *display)
{
	top_source_free(display->source);
	display->source = NULL;
}

void display_update(struct display *display, const struct profile *profile)
{
	const struct view_options options = {
		.event = display->options.event,
		.process = display->options.process,
		.tid = display->options.tid,
	};
	struct error *err;

	forget_view(display);
	if (display->options.page != DISPLAY_SOURCE)
		close_source(display);
	err = view_init_selected(&display->view, profile, &options);
	/* There is no expression in the options that could be bad. */
	if (err) {
		error_free(err);
		return;
	}
	display->has_view = true;
	display->top = (struct top){0};
	if (display->options.page == DISPLAY_TABLE)
		update_table(display);
	else if (display->options.page == DISPLAY_CALLS)
		update_calls(display);
	else if (display->options.page == DISPLAY_FUNCTION)
		update_function(display);
	else
		update_source(display);
}

static bool has_heading(const struct part *part)
{
	return part->heading;
}

size_t display_count(const struct display *display)
{
	size_t count = display->row_count;

	if (display->source)
		return top_source_count(display->source);
	for (size_t i = 0; i < display->part_count; i++)
		count += has_heading(&display->parts[i]) + display->parts[i].outline.count;
	return count;
}

/* The node at a line, or NULL: it is the heading of *part; counted through all parts. */
static const struct outline_node *node_at(const struct display *display, size_t index,
					  const struct part **part)
{
	for (size_t i = 0; i < display->part_count; i++) {
		*part = &display->parts[i];
		if (has_heading(*part) && index-- == 0)
			return NULL;
		if (index < (*part)->outline.count)
			return &(*part)->outline.nodes[index];
		index -= (*part)->outline.count;
	}
	*part = NULL;
	return NULL;
}

/* Columns. */
struct layout {
	size_t bar, name, module;
};

static bool shows_modules(const struct display *display)
{
	return display->options.page == DISPLAY_TABLE && display->options.by == TOP_FUNCTION;
}

static struct layout layout_of(const struct display *display, size_t columns)
{
	struct layout layout = {.bar = columns < WIDE ? 6 : 10};
	size_t taken = DISPLAY_SHARES + GAP + layout.bar + GAP;

	if (shows_modules(display)) {
		layout.module = display->module_columns;
		if (layout.module > columns / 5)
			layout.module = columns / 5;
		taken += GAP + layout.module;
	}
	layout.name = columns > taken + LEAST_NAME ? columns - taken : LEAST_NAME;
	return layout;
}

char *display_title(const struct display *display)
{
	const struct display_options *options = &display->options;
	const char *order = options->order == TOP_BY_TOTAL ? "total" : "self";
	const char *module = options->module;
	bool is_table = options->page == DISPLAY_TABLE;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (is_table)
		fprintf(out, "by %s, %s first", words_of_key(options->by), order);
	else if (options->page == DISPLAY_CALLS)
		fprintf(out, "call tree down to %.2g %%", 100 * options->least_share);
	else if (options->page == DISPLAY_SOURCE)
		fprintf(out, "%s, line by line", options->function);
	else
		fprintf(out, "%s, down to %.2g %%", options->function, 100 * options->least_share);
	if (options->process)
		fprintf(out, ", of process %s", options->process);
	if (options->tid)
		fprintf(out, ", of thread %d", options->tid);
	if (is_table && module && options->by == TOP_FUNCTION)
		fprintf(out, ", of %s", basename(module));
	if (is_table && options->filter)
		fprintf(out, ", matching /%s/", options->filter);
	fclose(out);
	return text;
}

char *display_heading(const struct display *display, size_t columns)
{
	struct layout layout = layout_of(display, columns);
	const char *what = display->options.page == DISPLAY_TABLE
				   ? words_of_key(display->options.by)
				   : "function";

	if (display->source)
		return xstrdup("");
	if (!shows_modules(display))
		return xasprintf("%7s %8s  %*s  %s", "self", "total", (int)layout.bar, "", what);
	return xasprintf("%7s %8s  %*s  %-*s  %s", "self", "total", (int)layout.bar, "",
			 (int)layout.name, what, "module");
}

static enum heat heat_of(uint64_t part, uint64_t whole)
{
	if (part * HOT_SHARE >= whole)
		return HEAT_HOT;
	return part * WARM_SHARE >= whole ? HEAT_WARM : HEAT_NONE;
}

/* Fits a name into its columns. */
static char *fit(const char *name, size_t columns)
{
	CLEANUP(free_ptr) char *shown = printable(name);

	return shorten(shown, columns);
}

/* The longest bar is that of the hottest row. */
static uint64_t longest_bar(const struct display *display)
{
	if (!display->row_count)
		return display->view.stacks[STACK_EMPTY].total.weight;
	return drawn_sum(display, &display->top.rows[display->rows[0]]).weight;
}

static char *shares(const struct display *display, struct sum self, struct sum total,
		    struct sum drawn, const struct layout *layout)
{
	uint64_t all = display->view.stacks[STACK_EMPTY].total.weight;
	CLEANUP(free_ptr) char *drawing = bar(drawn.weight, longest_bar(display), layout->bar);

	return xasprintf("%7s %8s  %s", figure_share(self.weight, all).text,
			 figure_share(total.weight, all).text, drawing);
}

static void set_names(struct display_line *line, const char *figures)
{
	line->names_at = (unsigned)strlen(figures);
	line->names_column = (unsigned)printable_columns(figures);
}

static void row_line(const struct display *display, const struct top_row *row,
		     const struct layout *layout, struct display_line *ret)
{
	struct sum drawn = drawn_sum(display, row);
	CLEANUP(free_ptr) char *figures = shares(display, row->self, row->total, drawn, layout);
	CLEANUP(free_ptr) char *full_name = words_of_row(&display->view, display->options.by, row);
	CLEANUP(free_ptr) char *name = fit(full_name, layout->name);
	CLEANUP(free_ptr) char *module = NULL;

	ret->heat = heat_of(drawn.weight, display->top.all.weight);
	set_names(ret, figures);
	if (!shows_modules(display)) {
		ret->text = xasprintf("%s  %s", figures, name);
		return;
	}
	module = fit(words_of_module(display->view.profile, row->module), layout->module);
	ret->text = xasprintf("%s  %s%*s  %s", figures, name,
			      (int)(layout->name - printable_columns(name)), "", module);
}

static void node_line(const struct display *display, const struct part *part,
		      const struct outline_node *node, const struct layout *layout,
		      struct display_line *ret)
{
	const char *prefix = part->branches.prefixes[node - part->outline.nodes];
	const char *full_name = display->view.labels.items[node->label].name;
	size_t taken = printable_columns(prefix);
	size_t left = layout->name > taken + LEAST_NAME ? layout->name - taken : LEAST_NAME;
	CLEANUP(free_ptr)
	char *figures = shares(display, node->self, node->total, node->total, layout);
	CLEANUP(free_ptr) char *name = fit(full_name, left);

	/* Only what is below the function has a self of it. */
	if (part->is_callers)
		memset(figures, ' ', strlen("100.0 %"));
	ret->heat = heat_of(node->total.weight, display->view.stacks[STACK_EMPTY].total.weight);
	set_names(ret, figures);
	ret->text = xasprintf("%s  %s%s", figures, prefix, name);
}

static void source_line(const struct display *display, size_t index, struct display_line *ret)
{
	double share = top_source_share(display->source, index);

	ret->text = xstrdup(top_source_line(display->source, index));
	ret->heat = share * HOT_SHARE >= 100	? HEAT_HOT
		    : share * WARM_SHARE >= 100 ? HEAT_WARM
						: HEAT_NONE;
	/* Behind the shares. */
	if (strlen(ret->text) > DISPLAY_SHARES)
		ret->names_at = ret->names_column = DISPLAY_SHARES;
}

void display_line(const struct display *display, size_t index, size_t columns,
		  struct display_line *ret)
{
	struct layout layout = layout_of(display, columns);
	const struct outline_node *node;
	const struct part *part;

	*ret = (struct display_line){0};
	if (display->source) {
		source_line(display, index, ret);
		return;
	}
	if (index < display->row_count) {
		row_line(display, &display->top.rows[display->rows[index]], &layout, ret);
		return;
	}
	node = node_at(display, index, &part);
	if (node) {
		node_line(display, part, node, &layout, ret);
		return;
	}
	ret->is_heading = true;
	ret->text = xstrdup(part->heading);
}

void display_line_deinit(struct display_line *line)
{
	free(line->text);
}

static void remember(struct display *display)
{
	if (display->earlier_count == PAGES_MAX) {
		options_deinit(&display->earlier[0]);
		memmove(display->earlier, display->earlier + 1,
			--display->earlier_count * sizeof(*display->earlier));
	}
	display->earlier[display->earlier_count++] = copy_options(&display->options);
}

static void open_function(struct display *display, uint32_t label)
{
	remember(display);
	display->options.page = DISPLAY_FUNCTION;
	set_text(&display->options.function, display->view.labels.items[label].name);
	set_text(&display->options.function_path,
		 path_of(display, display->view.labels.items[label].module));
}

static bool enter_row(struct display *display, const struct top_row *row)
{
	struct display_options *options = &display->options;

	switch (options->by) {
	case TOP_FUNCTION:
	case TOP_LINE:
		if (row->label == TOP_NO_LABEL)
			return false;
		open_function(display, row->label);
		return true;
	case TOP_FILE:
		return false;
	case TOP_MODULE:
		remember(display);
		set_text(&options->module, path_of(display, row->module));
		break;
	case TOP_PROCESS:
		remember(display);
		set_text(&options->process, row->name);
		break;
	case TOP_THREAD:
		remember(display);
		options->tid = profile_get_thread(display->view.profile, row->thread)->tid;
		break;
	}
	options->by = TOP_FUNCTION;
	set_text(&options->filter, NULL);
	return true;
}

bool display_enter(struct display *display, size_t index)
{
	const struct outline_node *node;
	const struct part *part;

	if (index >= display_count(display) || display->source)
		return false;
	if (index < display->row_count)
		return enter_row(display, &display->top.rows[display->rows[index]]);
	node = node_at(display, index, &part);
	if (node)
		open_function(display, node->label);
	return node;
}

/* Of a row, a node, or of the page itself; TOP_NO_LABEL: none. */
static uint32_t label_at(const struct display *display, size_t index)
{
	const struct outline_node *node;
	const struct part *part;

	if (index < display->row_count)
		return display->top.rows[display->rows[index]].label;
	node = node_at(display, index, &part);
	return node ? node->label : TOP_NO_LABEL;
}

bool display_open_source(struct display *display, size_t index)
{
	uint32_t label;

	if (display->source)
		return false;
	label = label_at(display, index);
	if (label == TOP_NO_LABEL)
		return false;
	open_function(display, label);
	display->options.page = DISPLAY_SOURCE;
	return true;
}

size_t display_hottest(const struct display *display)
{
	return display->source ? top_source_hottest(display->source) : 0;
}

bool display_back(struct display *display)
{
	if (!display->earlier_count)
		return false;
	close_source(display);
	options_deinit(&display->options);
	display->options = display->earlier[--display->earlier_count];
	return true;
}
