/*
 * Writes numbers and names in columns, in styles. Make names from outside
 * printable first, with table_name().
 */
#ifndef PROF_CMD_UI_TABLE_H
#define PROF_CMD_UI_TABLE_H

#include "cmd/ui/pager.h"
#include "report/view.h"

#include <stddef.h>

enum { SHARE_COLUMNS = 7 /* "100.0 %" */, SAMPLES_COLUMNS = 9 };

struct table_writer {
	const struct pager *pager;
	FILE *out; /* of the pager */
	const struct view *view;
};

/* Prints a share of the whole view, in SHARE_COLUMNS, styled by
 * style_of_share(). */
void table_share(const struct table_writer *writer, uint64_t weight);
/* Prints spaces from one column to another. */
void table_padding(const struct table_writer *writer, size_t from, size_t to);
void table_styled(const struct table_writer *writer, enum style style, const char *text);

/* Returns a printable name that is shortened to `columns`. The caller frees it. */
char *table_name(const char *name, size_t columns);
/* Returns the style of a function, by its kind of code. */
enum style table_style_of_label(const struct table_writer *writer, uint32_t label);

#endif
