/*
 * A line of the live view: shares, a bar, and names in columns.
 */
#ifndef PROF_CMD_TOP_TOP_LINE_H
#define PROF_CMD_TOP_TOP_LINE_H

#include "cmd/ui/style.h"
#include "report/sum.h"

#include <stddef.h>

/* The width of the shares, which precede the bar and the names. */
enum { TOP_SHARES_COLUMNS = 16 };

struct top_line {
	char *text;	       /* printable; owned */
	unsigned names_at;     /* the byte where the names start */
	unsigned names_column; /* the column where the names start */
	enum style heat;       /* style_of_share() of the shares */
	bool is_heading;       /* heading of a part of a page */
};

void top_line_deinit(struct top_line *line);

/* Widths. The module column may be 0. */
struct top_columns {
	size_t bar, name, module;
};

/* Divides `columns`. module: the width of the widest module, or 0 for no module
 * column. */
struct top_columns top_columns_of(size_t columns, size_t module);

/* Returns the headings of the columns. detail: the heading of the module
 * column. The caller frees the text. */
char *top_line_heading(const struct top_columns *columns, const char *name, const char *detail);

/* The values on the line of a function, thread or another object. */
struct top_shares {
	struct sum self, total;
	bool hides_self;
	uint64_t all;		   /* the weight that is 100 % */
	uint64_t bar, longest_bar; /* weights */
};

/* names: the text to the right of the bar. */
void top_line_init(struct top_line *line, const struct top_columns *columns,
		   const struct top_shares *shares, const char *names);

#endif
