/*
 * A table of rows as text: which rows are shown, and the text of the cells that
 * name a row. The caller lays out the cells.
 */
#ifndef PROF_REPORT_ROW_TABLE_H
#define PROF_REPORT_ROW_TABLE_H

#include "report/rows.h"

#include <regex.h>

/*
 * A row is shown if it satisfies all conditions. Zeroed options show all rows,
 * sorted by self.
 */
struct row_table_options {
	struct row_by by;      /* as passed to rows_init_by() */
	enum row_order order;  /* the current order of the rows */
	const bool *functions; /* only these functions, by label; NULL means all */
	const char *module;    /* only functions of the module with this path; NULL means all */
	/*
	 * Only rows whose name matches; for functions also those whose module
	 * matches. NULL means all.
	 */
	const regex_t *filter;
	uint64_t least_self, least_total; /* minimum weights */
	size_t limit;			  /* maximum number of rows; 0 means none */
};

/* The cells that name a row. */
enum row_cell {
	ROW_NAME,
	/*
	 * The module of a function, the function of a line, or the process of a
	 * thread. For off-CPU time, rows that are neither lines nor threads
	 * have the main reason here.
	 */
	ROW_DETAIL,
	ROW_PLACE, /* the source line where a function starts */
};

struct row_table {
	const struct view *view;
	const struct rows *rows;
	struct row_table_options options;
	uint32_t *shown; /* indexes of rows, in their order */
	size_t count;
	/*
	 * Rows with self samples that are not shown, because of the minimum
	 * weight or the limit, and the sum of their self weights.
	 */
	size_t hidden_count;
	uint64_t hidden_weight;
	uint64_t longest_bar; /* the maximum of row_table_bar() */
};

/* Borrows everything except the options. */
void row_table_init(struct row_table *table, const struct view *view, const struct rows *rows,
		    const struct row_table_options *options);
void row_table_deinit(struct row_table *table);

const struct row *row_table_row(const struct row_table *table, size_t index);
/*
 * Returns the value of a row's bar: total if the rows are sorted by total, else
 * self.
 */
struct sum row_table_bar(const struct row_table *table, const struct row *row);

/* Returns the text of a cell, "" if it is empty. The caller frees it. */
char *row_table_cell(const struct row_table *table, const struct row *row, enum row_cell cell);
/* Returns the heading of a column, "" if its cells are empty. */
const char *row_table_heading(const struct row_table *table, enum row_cell cell);
/* Returns the width of the widest shown cell. */
size_t row_table_columns(const struct row_table *table, enum row_cell cell);

#endif
