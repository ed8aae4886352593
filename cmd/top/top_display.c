#include "cmd/top/top_display.h"

#include "base/alloc.h"
#include "cmd/top/top_source.h"
#include "cmd/top/top_table.h"
#include "cmd/top/top_tree.h"
#include "report/logical.h"

#include <stdlib.h>
#include <string.h>

enum { PAGES_MAX = 32 /* maximum number of pages to go back */ };

struct display {
	struct display_options options;
	struct display_options earlier[PAGES_MAX];
	unsigned earlier_count;
	/* the page of the last update; the parts of other pages are zeroed */
	enum display_page page;
	/* the logical view, or NULL if the profile itself is shown */
	struct profile *logical;
	struct glue_share share; /* if the view may turn logical */
	bool has_view;
	struct view view;
	struct top_table table;
	struct top_tree tree;
	struct top_source *source;
};

static void top_display_options_deinit(struct display_options *options)
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

static void top_display_set_text(char **field, const char *text)
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
	top_table_deinit(&display->table);
	top_tree_deinit(&display->tree);
	if (display->has_view)
		view_deinit(&display->view);
	display->has_view = false;
	profile_free(display->logical);
	display->logical = NULL;
}

void display_free(struct display *display)
{
	if (!display)
		return;
	forget_view(display);
	top_source_free(display->source);
	while (display->earlier_count)
		top_display_options_deinit(&display->earlier[--display->earlier_count]);
	top_display_options_deinit(&display->options);
	free(display);
}

struct display_options *display_options(struct display *display)
{
	return &display->options;
}

struct error *display_set_filter(struct display *display, const char *text)
{
	struct error *err;
	regex_t regex;

	if (*text) {
		err = top_filter_compile(text, &regex);
		if (err)
			return err;
		regfree(&regex);
	}
	top_display_set_text(&display->options.filter, *text ? text : NULL);
	return NULL;
}

static const char *top_display_path_of(const struct display *display, uint32_t module)
{
	const struct profile *profile = display->view.profile;

	return profile_string(profile, profile_get_module(profile, module)->path);
}

static uint64_t least_weight(const struct display *display)
{
	uint64_t all = display->view.stacks[STACK_EMPTY].total.weight;

	return (uint64_t)((double)all * display->options.least_share) + 1;
}

static void update_table(struct display *display)
{
	const struct display_options *options = &display->options;
	uint64_t least = options->leaves_out ? least_weight(display) : 0;
	bool by_total = options->order == ROWS_BY_TOTAL;
	const struct row_table_options rows = {
		.by = options->by,
		.order = options->order,
		.module = options->module,
		.least_self = by_total ? 0 : least,
		.least_total = by_total ? least : 0,
	};

	top_table_init(&display->table, &display->view, &rows, options->filter);
}

/* Chooses, by label, the function of a page. Functions of the same name in
 * other modules are different. */
static bool *labels_of_function(const struct display *display)
{
	const struct display_labels *labels = &display->view.labels;
	bool *chosen = xcalloc(labels->count, sizeof(*chosen));

	for (uint32_t i = 0; i < labels->count; i++)
		chosen[i] = !strcmp(labels->items[i].name, display->options.function) &&
			    !strcmp(top_display_path_of(display, labels->items[i].module),
				    display->options.function_path);
	return chosen;
}

static void update_function(struct display *display)
{
	CLEANUP(free_ptr) bool *chosen = labels_of_function(display);

	top_tree_init_function(&display->tree, &display->view, chosen, least_weight(display));
}

/* The source is kept across refreshes, with the files that it has opened. */
static void update_source(struct display *display)
{
	CLEANUP(free_ptr) bool *chosen = labels_of_function(display);
	const struct display_options *options = &display->options;

	if (!display->source)
		display->source = top_source_new(options->function, &options->symbols);
	top_source_update(display->source, &display->view, chosen, options->columns);
}

static void top_display_close_source(struct display *display)
{
	top_source_free(display->source);
	display->source = NULL;
}

/* Returns the profile, or its logical view if that is shown. */
static const struct profile *logical_of(struct display *display, const struct profile *profile)
{
	display->share = (struct glue_share){0};
	if (display->options.may_turn_logical) {
		display->share = glue_share_of(profile);
		if (glue_share_is_most(&display->share))
			display->options.logical = true;
	}
	if (display->options.logical)
		display->logical = logical_profile(profile);
	return display->logical ? display->logical : profile;
}

void display_update(struct display *display, const struct profile *profile)
{
	const struct view_options options = {
		.event = display->options.event,
		.names = display->options.names,
		.process = display->options.process,
		.tid = display->options.tid,
		.labels = display->options.labels,
		.label_count = display->options.label_count,
		.hides_idle = display->options.hides_idle,
	};
	struct error *err;

	forget_view(display);
	if (display->options.page != DISPLAY_SOURCE)
		top_display_close_source(display);
	if (display->options.page != DISPLAY_SOURCE)
		profile = logical_of(display, profile);
	err = view_init_selected(&display->view, profile, &options);
	/* These options have no regular expression, and labels were checked.
	 * But a past time may not have samples with a label. */
	if (err) {
		error_free(err);
		return;
	}
	display->has_view = true;
	display->page = display->options.page;
	if (display->page == DISPLAY_TABLE)
		update_table(display);
	else if (display->page == DISPLAY_CALLS)
		top_tree_init_calls(&display->tree, &display->view, least_weight(display));
	else if (display->page == DISPLAY_FUNCTION)
		update_function(display);
	else
		update_source(display);
}

size_t display_count(const struct display *display)
{
	if (!display->has_view)
		return 0;
	switch (display->page) {
	case DISPLAY_TABLE:
		return display->table.table.count;
	case DISPLAY_SOURCE:
		return display->source ? top_source_count(display->source) : 0;
	default:
		return top_tree_count(&display->tree);
	}
}

char *display_idle(const struct display *display)
{
	const struct view *view = &display->view;
	struct humanized sum;

	if (!display->has_view || !view->idle_sum.weight)
		return xstrdup("");
	sum = profile_humanize_weight(view->profile, view->event, view->idle_sum.weight);
	return xasprintf(", %s idle hidden (--idle)", sum.text);
}

char *display_title(const struct display *display)
{
	const struct display_options *options = &display->options;
	const char *order = options->order == ROWS_BY_TOTAL ? "total" : "self";
	const char *module = options->module;
	bool is_table = options->page == DISPLAY_TABLE;
	CLEANUP(free_ptr) char *idle = display_idle(display);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (is_table)
		fprintf(out, "by %s, %s first", row_by_name(&options->by), order);
	else if (options->page == DISPLAY_CALLS)
		fprintf(out, "call tree down to %.2g %%", 100 * options->least_share);
	else if (options->page == DISPLAY_SOURCE)
		fprintf(out, "%s, line by line", options->function);
	else
		fprintf(out, "%s, down to %.2g %%", options->function, 100 * options->least_share);
	if (options->logical && options->page != DISPLAY_SOURCE)
		fputs(", logical", out);
	if (options->logical && options->page != DISPLAY_SOURCE && display->share.glue > 0)
		fprintf(out, " (%.0f of %.0f frames folded)", display->share.glue,
			display->share.lines);
	if (options->process)
		fprintf(out, ", of process %s", options->process);
	if (options->tid)
		fprintf(out, ", of thread %d", options->tid);
	for (size_t i = 0; i < options->label_count; i++)
		fprintf(out, ", %s", options->labels[i]);
	if (is_table && module && options->by.key == ROW_FUNCTION)
		fprintf(out, ", of %s", basename(module));
	if (is_table && options->filter)
		fprintf(out, ", matching /%s/", options->filter);
	fputs(idle, out);
	fclose(out);
	return text;
}

char *display_heading(const struct display *display, size_t columns)
{
	if (!display->has_view)
		return xstrdup("");
	switch (display->page) {
	case DISPLAY_TABLE:
		return top_table_heading(&display->table, columns);
	case DISPLAY_SOURCE:
		return xstrdup("");
	default:
		return top_tree_heading(columns);
	}
}

void display_line(const struct display *display, size_t index, size_t columns, struct top_line *ret)
{
	switch (display->page) {
	case DISPLAY_TABLE:
		top_table_line(&display->table, index, columns, ret);
		break;
	case DISPLAY_SOURCE:
		top_source_line(display->source, index, ret);
		break;
	default:
		top_tree_line(&display->tree, index, columns, ret);
	}
}

static void top_display_remember(struct display *display)
{
	if (display->earlier_count == PAGES_MAX) {
		top_display_options_deinit(&display->earlier[0]);
		memmove(display->earlier, display->earlier + 1,
			--display->earlier_count * sizeof(*display->earlier));
	}
	display->earlier[display->earlier_count++] = copy_options(&display->options);
}

static void open_function(struct display *display, uint32_t label)
{
	top_display_remember(display);
	display->options.page = DISPLAY_FUNCTION;
	top_display_set_text(&display->options.function, display->view.labels.items[label].name);
	top_display_set_text(
		&display->options.function_path,
		top_display_path_of(display, display->view.labels.items[label].module));
}

static bool enter_row(struct display *display, const struct row *row)
{
	struct display_options *options = &display->options;

	switch (options->by.key) {
	case ROW_FUNCTION:
	case ROW_LINE:
		if (row->label == ROW_NO_LABEL)
			return false;
		open_function(display, row->label);
		return true;
	case ROW_FILE:
	case ROW_LABEL:
		return false;
	case ROW_MODULE:
		top_display_remember(display);
		top_display_set_text(&options->module, top_display_path_of(display, row->module));
		break;
	case ROW_PROCESS:
		top_display_remember(display);
		top_display_set_text(&options->process, row->name);
		break;
	case ROW_THREAD:
		top_display_remember(display);
		options->tid = profile_get_thread(display->view.profile, row->thread)->tid;
		break;
	}
	options->by = (struct row_by){.key = ROW_FUNCTION};
	top_display_set_text(&options->filter, NULL);
	return true;
}

/* Returns the function of a line, or ROW_NO_LABEL. */
static uint32_t top_display_label_at(const struct display *display, size_t index)
{
	const struct pruned_node *node;

	if (index >= display_count(display) || display->page == DISPLAY_SOURCE)
		return ROW_NO_LABEL;
	if (display->page == DISPLAY_TABLE)
		return row_table_row(&display->table.table, index)->label;
	node = top_tree_node(&display->tree, index);
	return node ? node->label : ROW_NO_LABEL;
}

bool display_enter(struct display *display, size_t index)
{
	uint32_t label = top_display_label_at(display, index);

	if (display->page == DISPLAY_TABLE)
		return index < display_count(display) &&
		       enter_row(display, row_table_row(&display->table.table, index));
	if (label != ROW_NO_LABEL)
		open_function(display, label);
	return label != ROW_NO_LABEL;
}

bool display_open_source(struct display *display, size_t index)
{
	uint32_t label = top_display_label_at(display, index);

	if (label == ROW_NO_LABEL)
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
	top_display_close_source(display);
	top_display_options_deinit(&display->options);
	display->options = display->earlier[--display->earlier_count];
	return true;
}
