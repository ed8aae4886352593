/*
 * A table writer: numbers and names in columns, in styles. Names from outside must be made
 * printable before, by table_name().
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

/* A share of the whole view, in SHARE_COLUMNS, styled by style_of_share(). */
void table_share(const struct table_writer *writer, uint64_t weight);
/* Spaces from one column to another. */
void table_padding(const struct table_writer *writer, size_t from, size_t to);
void table_styled(const struct table_writer *writer, enum style style, const char *text);

/* A printable name that is shortened to `columns`; to be freed. */
char *table_name(const char *name, size_t columns);
/* The style of a function, by its kind of code. */
enum style table_style_of_label(const struct table_writer *writer, uint32_t label);

#endif
