/*
 * A page of the live view with a table of functions, modules, processes or
 * other rows.
 */
#ifndef PROF_CMD_TOP_TOP_TABLE_H
#define PROF_CMD_TOP_TOP_TABLE_H

#include "base/error.h"
#include "cmd/top/top_line.h"
#include "report/row_table.h"

struct top_table {
	struct rows rows;
	struct row_table table;
	size_t module; /* width of the widest module; 0 if modules are not shown */
};

/* Compiles a filter for rows. Case matters only if the text has a capital
 * letter. */
MUST_CHECK struct error *top_filter_compile(const char *text, regex_t *ret);

/* Borrows the pointers in options. Ignores their compiled filter: `filter` is
 * the text of one, or NULL. */
void top_table_init(struct top_table *page, const struct view *view,
		    const struct row_table_options *options, const char *filter);
/* A zeroed page has nothing to free. */
void top_table_deinit(struct top_table *page);

/* columns: the width of the screen. The caller frees the heading. */
char *top_table_heading(const struct top_table *page, size_t columns);
void top_table_line(const struct top_table *page, size_t index, size_t columns,
		    struct top_line *ret);

#endif
