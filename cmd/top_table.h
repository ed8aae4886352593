/*
 * The page of the live view that is a table: of functions, modules, processes, …
 */
#ifndef PROF_CMD_TOP_TABLE_H
#define PROF_CMD_TOP_TABLE_H

#include "base/error.h"
#include "cmd/top_line.h"
#include "report/row_table.h"

struct top_table {
	struct rows rows;
	struct row_table table;
	size_t module; /* columns of the widest module; 0: modules are not shown */
};

/* Compiles a filter of rows. Letters match in both cases unless the text has a capital letter. */
MUST_CHECK struct error *top_filter_compile(const char *text, regex_t *ret);

/* options: borrowed are its pointers, but for the filter, which is text here; NULL: none. */
void top_table_init(struct top_table *page, const struct view *view,
		    const struct row_table_options *options, const char *filter);
/* A zeroed one has nothing to free. */
void top_table_deinit(struct top_table *page);

/* columns: of the screen. The heading is to be freed. */
char *top_table_heading(const struct top_table *page, size_t columns);
void top_table_line(const struct top_table *page, size_t index, size_t columns,
		    struct top_line *ret);

#endif
