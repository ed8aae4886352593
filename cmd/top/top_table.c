#include "cmd/top/top_table.h"

#include "base/alloc.h"
#include "base/printable.h"
#include "cmd/ui/table.h"

#include <ctype.h>
#include <string.h>

struct error *top_filter_compile(const char *text, regex_t *ret)
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

static void select_rows(struct top_table *page, const struct view *view,
			const struct row_table_options *options, const char *filter)
{
	struct row_table_options filtered = *options;
	regex_t regex;
	struct error *err = filter ? top_filter_compile(filter, &regex) : NULL;

	filtered.filter = filter && !err ? &regex : NULL;
	row_table_init(&page->table, view, &page->rows, &filtered);
	if (filtered.filter)
		regfree(&regex);
	page->table.options.filter = NULL;
	/* It was checked when the user entered it. */
	error_free(err);
}

void top_table_init(struct top_table *page, const struct view *view,
		    const struct row_table_options *options, const char *filter)
{
	*page = (struct top_table){0};
	/* Labels were checked with the command line. */
	error_free(rows_init_by(&page->rows, view, &options->by));
	if (options->order != ROWS_BY_SELF)
		rows_sort(&page->rows, options->order);
	select_rows(page, view, options, filter);
	if (options->by.key == ROW_FUNCTION) {
		size_t heading = strlen(row_table_heading(&page->table, ROW_DETAIL));

		page->module = row_table_columns(&page->table, ROW_DETAIL);
		if (page->module < heading)
			page->module = heading;
	}
}

void top_table_deinit(struct top_table *page)
{
	row_table_deinit(&page->table);
	rows_deinit(&page->rows);
	*page = (struct top_table){0};
}

char *top_table_heading(const struct top_table *page, size_t columns)
{
	struct top_columns layout = top_columns_of(columns, page->module);
	CLEANUP(free_ptr) char *name = printable(row_table_heading(&page->table, ROW_NAME));

	return top_line_heading(&layout, name, row_table_heading(&page->table, ROW_DETAIL));
}

static char *top_table_cell_of(const struct top_table *page, const struct row *row,
			       enum row_cell cell, size_t columns)
{
	CLEANUP(free_ptr) char *text = row_table_cell(&page->table, row, cell);

	return table_name(text, columns);
}

/* Returns the name, with the module in a column of its own. The caller frees
 * it. */
static char *top_table_names_of(const struct top_table *page, const struct row *row,
				const struct top_columns *columns)
{
	CLEANUP(free_ptr) char *name = top_table_cell_of(page, row, ROW_NAME, columns->name);
	CLEANUP(free_ptr) char *module = NULL;

	if (!columns->module)
		return STEAL(name);
	module = top_table_cell_of(page, row, ROW_DETAIL, columns->module);
	return xasprintf("%s%*s  %s", name, (int)(columns->name - printable_columns(name)), "",
			 module);
}

void top_table_line(const struct top_table *page, size_t index, size_t columns,
		    struct top_line *ret)
{
	struct top_columns layout = top_columns_of(columns, page->module);
	const struct row *row = row_table_row(&page->table, index);
	const struct top_shares shares = {
		.self = row->self,
		.total = row->total,
		.all = page->rows.all.weight,
		.bar = row_table_bar(&page->table, row).weight,
		.longest_bar = page->table.longest_bar,
	};
	CLEANUP(free_ptr) char *names = top_table_names_of(page, row, &layout);

	top_line_init(ret, &layout, &shares, names);
}
