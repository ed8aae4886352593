/*
 * Writes a directory of segments as rows (format->is_rows), segment after segment, so that memory
 * does not grow with the time that was recorded. The segments are read once more before, for their
 * labels, because all rows have the same keys.
 */
#ifndef PROF_CMD_SEGMENT_ROWS_H
#define PROF_CMD_SEGMENT_ROWS_H

#include "cmd/outputs.h"
#include "cmd/time_expression.h"

/* All borrowed. */
struct segment_rows {
	const char *directory;
	struct time_range range;
	const char *event; /* NULL: all */
	bool logical;	   /* as in struct input_options */
	const struct format_options *options;
	struct outputs *outputs; /* all of them are rows */
};

MUST_CHECK struct error *segment_rows_write(const struct segment_rows *rows);

#endif
