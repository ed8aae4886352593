#include "report/row_table.h"

#include "base/alloc.h"
#include "base/printable.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *row_table_text_of(const struct row_table *table, string_id id)
{
	return profile_string(table->view->profile, id);
}

static const char *path_of_module(const struct row_table *table, const struct row *row)
{
	return row_table_text_of(table,
				 profile_get_module(table->view->profile, row->module)->path);
}

static bool row_table_matches(const struct row_table *table, const struct row *row)
{
	const regex_t *filter = table->options.filter;
	CLEANUP(free_ptr) char *name = NULL;

	if (!filter)
		return true;
	name = row_table_cell(table, row, ROW_NAME);
	return regexec(filter, name, 0, NULL, 0) == 0 ||
	       (table->options.by.key == ROW_FUNCTION &&
		regexec(filter, display_module_name(table->view->profile, row->module), 0, NULL,
			0) == 0);
}

static bool is_selected(const struct row_table *table, const struct row *row)
{
	const struct row_table_options *options = &table->options;

	if (options->functions && !options->functions[row->label])
		return false;
	if (options->module && options->by.key == ROW_FUNCTION &&
	    strcmp(path_of_module(table, row), options->module) != 0)
		return false;
	return row_table_matches(table, row);
}

static bool row_table_matters(const struct row_table *table, const struct row *row)
{
	return row->self.weight >= table->options.least_self &&
	       row->total.weight >= table->options.least_total;
}

static void row_table_show(struct row_table *table, uint32_t index)
{
	uint64_t bar = row_table_bar(table, &table->rows->items[index]).weight;

	table->shown[table->count++] = index;
	if (bar > table->longest_bar)
		table->longest_bar = bar;
}

void row_table_init(struct row_table *table, const struct view *view, const struct rows *rows,
		    const struct row_table_options *options)
{
	size_t limit = options->limit ? options->limit : rows->count;

	*table = (struct row_table){.view = view, .rows = rows, .options = *options};
	table->shown = xcalloc(rows->count, sizeof(*table->shown));
	for (uint32_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->items[i];
		bool is_shown = table->count < limit && row_table_matters(table, row);

		if (!is_shown && !row->self.weight)
			continue;
		if (!is_selected(table, row))
			continue;
		if (is_shown) {
			row_table_show(table, i);
		} else {
			table->hidden_count++;
			table->hidden_weight += row->self.weight;
		}
	}
}

void row_table_deinit(struct row_table *table)
{
	free(table->shown);
	*table = (struct row_table){0};
}

const struct row *row_table_row(const struct row_table *table, size_t index)
{
	return &table->rows->items[table->shown[index]];
}

struct sum row_table_bar(const struct row_table *table, const struct row *row)
{
	return table->options.order == ROWS_BY_TOTAL ? row->total : row->self;
}

static char *name_of_thread(const struct row_table *table, const struct row *row)
{
	const struct profile_thread *thread = profile_get_thread(table->view->profile, row->thread);
	const char *name = *row->name ? row->name : "(no name)";

	if (table->options.by.key == ROW_PROCESS || thread->tid < 0)
		return xstrdup(name);
	return xasprintf("%s %d", name, thread->tid);
}

static char *row_table_name_of(const struct row_table *table, const struct row *row)
{
	switch (table->options.by.key) {
	case ROW_PROCESS:
	case ROW_THREAD:
		return name_of_thread(table, row);
	case ROW_LABEL:
		return xstrdup(*row->name ? row->name : "(none)");
	case ROW_MODULE:
		return xstrdup(*row->name ? row->name : "(no module)");
	case ROW_FILE:
		if (!*row->name)
			return xasprintf("(no file known) %s",
					 display_module_name(table->view->profile, row->module));
		break;
	case ROW_LINE:
		if (!row->file)
			return xasprintf("(no line known) %s", row->name);
		return xasprintf("%s:%" PRIu32, row_table_text_of(table, row->file), row->line);
	case ROW_FUNCTION:
		break;
	}
	return xstrdup(row->name);
}

static bool shows_reason(const struct row_table *table)
{
	enum row_key key = table->options.by.key;

	return table->view->is_waiting && key != ROW_LINE && key != ROW_THREAD;
}

static char *detail_of(const struct row_table *table, const struct row *row)
{
	const struct profile *profile = table->view->profile;

	if (shows_reason(table))
		return row_reason(table->view, row);
	switch (table->options.by.key) {
	case ROW_FUNCTION:
		return xstrdup(display_module_name(profile, row->module));
	case ROW_LINE:
		return xstrdup(row->file ? row->name : display_module_name(profile, row->module));
	case ROW_THREAD:
		return xstrdup(row_table_text_of(
			table, profile_get_thread(profile, row->thread)->process));
	default:
		return xstrdup("");
	}
}

/* Returns the source line, "src/parse.c:12". */
static char *row_table_place_of(const struct row_table *table, const struct row *row)
{
	const struct label *label;

	if (table->options.by.key != ROW_FUNCTION)
		return xstrdup("");
	label = &table->view->labels.items[row->label];
	if (!label->file || !label->start_line)
		return xstrdup(row_table_text_of(table, label->file));
	return xasprintf("%s:%" PRIu32, row_table_text_of(table, label->file), label->start_line);
}

char *row_table_cell(const struct row_table *table, const struct row *row, enum row_cell cell)
{
	switch (cell) {
	case ROW_NAME:
		return row_table_name_of(table, row);
	case ROW_DETAIL:
		return detail_of(table, row);
	case ROW_PLACE:
		break;
	}
	return row_table_place_of(table, row);
}

const char *row_table_heading(const struct row_table *table, enum row_cell cell)
{
	enum row_key key = table->options.by.key;

	if (cell == ROW_NAME)
		return row_by_name(&table->options.by);
	if (cell == ROW_PLACE)
		return key == ROW_FUNCTION ? "defined at" : "";
	if (shows_reason(table))
		return "waits in";
	return key == ROW_FUNCTION ? "module"
	       : key == ROW_LINE   ? "function"
	       : key == ROW_THREAD ? "process"
				   : "";
}

size_t row_table_columns(const struct row_table *table, enum row_cell cell)
{
	size_t most = 0;

	for (size_t i = 0; i < table->count; i++) {
		CLEANUP(free_ptr)
		char *text = row_table_cell(table, row_table_row(table, i), cell);
		size_t columns = printable_columns(text);

		if (columns > most)
			most = columns;
	}
	return most;
}
