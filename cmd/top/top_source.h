/*
 * A page of the live view with a function's source and instructions, as in prof
 * annotate, with the shares at each refresh.
 */
#ifndef PROF_CMD_TOP_TOP_SOURCE_H
#define PROF_CMD_TOP_TOP_SOURCE_H

#include "cmd/top/top_line.h"
#include "report/view.h"
#include "symbol/symbol_options.h"

struct top_source;

/* Borrows both arguments. */
struct top_source *top_source_new(const char *name, const struct symbol_options *symbols);
void top_source_free(struct top_source *source);

/* chosen: the function, by label of the view. It may have no samples at the
 * moment. */
void top_source_update(struct top_source *source, const struct view *view, const bool *chosen,
		       size_t columns);

size_t top_source_count(const struct top_source *source);
void top_source_line(const struct top_source *source, size_t index, struct top_line *ret);
/* Returns the line with the most self samples, or 0 if no line has samples. */
size_t top_source_hottest(const struct top_source *source);

#endif
