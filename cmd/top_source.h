/*
 * A function of the live view line by line, as prof annotate tells it: the lines of its source and
 * its instructions, with the shares of the moment.
 */
#ifndef PROF_CMD_TOP_SOURCE_H
#define PROF_CMD_TOP_SOURCE_H

#include "report/view.h"

#include <stddef.h>

struct top_source;

/* name: borrowed, as debug_dir, where separate debug files are. */
struct top_source *top_source_new(const char *name, const char *debug_dir);
void top_source_free(struct top_source *source);

/* chosen: by label of the view, what is called so; there may be none at the moment. */
void top_source_update(struct top_source *source, const struct view *view, const bool *chosen,
		       size_t columns);

size_t top_source_count(const struct top_source *source);
/* Printable; a line with samples begins with its share. */
const char *top_source_line(const struct top_source *source, size_t index);
/* Of the samples that a line has itself, in percent; 0: none, or it is no line of code. */
double top_source_share(const struct top_source *source, size_t index);
/* Has the most; 0 where none has. */
size_t top_source_hottest(const struct top_source *source);

#endif
