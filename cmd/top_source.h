/*
 * The page of the live view that is a function's source and instructions, as prof annotate shows
 * them, with the shares of each refresh.
 */
#ifndef PROF_CMD_TOP_SOURCE_H
#define PROF_CMD_TOP_SOURCE_H

#include "cmd/top_line.h"
#include "report/view.h"
#include "symbol/symbol_options.h"

struct top_source;

/* Borrows both. */
struct top_source *top_source_new(const char *name, const struct symbol_options *symbols);
void top_source_free(struct top_source *source);

/* chosen: the function, by label of the view; there may be none of its samples right now. */
void top_source_update(struct top_source *source, const struct view *view, const bool *chosen,
		       size_t columns);

size_t top_source_count(const struct top_source *source);
void top_source_line(const struct top_source *source, size_t index, struct top_line *ret);
/* The line with the most self samples; 0 if no line has any. */
size_t top_source_hottest(const struct top_source *source);

#endif
