/*
 * A line of the live view: shares, a bar, and names in columns.
 */
#ifndef PROF_CMD_TOP_LINE_H
#define PROF_CMD_TOP_LINE_H

#include "cmd/ui/style.h"
#include "report/sum.h"

#include <stddef.h>

/* Columns of the shares, which are before the bar and the names. */
enum { TOP_SHARES_COLUMNS = 16 };

struct top_line {
	char *text;	       /* printable; owned */
	unsigned names_at;     /* the byte where the names begin … */
	unsigned names_column; /* … and its column */
	enum style heat;       /* of the shares: style_of_share() */
	bool is_heading;       /* of a part of a page */
};

void top_line_deinit(struct top_line *line);

/* Widths; no module column: 0. */
struct top_columns {
	size_t bar, name, module;
};

/* How `columns` are divided; module: the width of the widest module, 0: none is shown. */
struct top_columns top_columns_of(size_t columns, size_t module);

/* The headings of the columns; detail: of the module column. To be freed. */
char *top_line_heading(const struct top_columns *columns, const char *name, const char *detail);

/* What a line shows of a function, thread, … */
struct top_shares {
	struct sum self, total;
	bool hides_self;
	uint64_t all;		   /* weight that shares are of */
	uint64_t bar, longest_bar; /* weights */
};

/* names: what is right of the bar. */
void top_line_init(struct top_line *line, const struct top_columns *columns,
		   const struct top_shares *shares, const char *names);

#endif
