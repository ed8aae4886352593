/*
 * A table of rows as text: which rows are shown, and what is in the cells that name a row. How
 * cells are written is up to the caller.
 */
#ifndef PROF_REPORT_ROW_TABLE_H
#define PROF_REPORT_ROW_TABLE_H

#include "report/rows.h"

#include <regex.h>

/* A row is shown if it meets all conditions. A zeroed one shows all rows, sorted by self. */
struct row_table_options {
	struct row_by by;      /* as the rows were made */
	enum row_order order;  /* as the rows are sorted */
	const bool *functions; /* only these functions, by label; NULL: all */
	const char *module;    /* only functions of the module with this path; NULL: all */
	const regex_t *filter; /* only rows whose name matches, or functions whose module matches;
				  NULL: all */
	uint64_t least_self, least_total; /* weights */
	size_t limit;			  /* rows; 0: none */
};

/* The cells that name a row. */
enum row_cell {
	ROW_NAME,
	ROW_DETAIL, /* the module of a function, the function of a line, the process of a thread;
		       of waiting also its main reason, instead of a module or nothing */
	ROW_PLACE,  /* the source line where a function begins */
};

struct row_table {
	const struct view *view;
	const struct rows *rows;
	struct row_table_options options;
	uint32_t *shown; /* indexes of rows, in their order */
	size_t count;
	/* Rows below the least weight or above the limit that have self samples. */
	size_t hidden_count;
	uint64_t hidden_weight;
	uint64_t longest_bar; /* the largest row_table_bar() */
};

/* Borrows everything but the options. */
void row_table_init(struct row_table *table, const struct view *view, const struct rows *rows,
		    const struct row_table_options *options);
void row_table_deinit(struct row_table *table);

const struct row *row_table_row(const struct row_table *table, size_t index);
/* What a bar shows of a row: total if the rows are sorted by total, else self. */
struct sum row_table_bar(const struct row_table *table, const struct row *row);

/* The text of a cell, "" if it is empty; to be freed. */
char *row_table_cell(const struct row_table *table, const struct row *row, enum row_cell cell);
/* The heading of a column; "" if its cells are empty. */
const char *row_table_heading(const struct row_table *table, enum row_cell cell);
/* The width of the widest cell that is shown. */
size_t row_table_columns(const struct row_table *table, enum row_cell cell);

#endif
