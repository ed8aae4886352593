/*
 * Writes a directory of segments as rows (format->is_rows), one segment after
 * the other, so that memory does not grow with the recorded time. The segments
 * are read once before for their labels, because all rows have the same keys.
 */
#ifndef PROF_CMD_SEGMENT_ROWS_H
#define PROF_CMD_SEGMENT_ROWS_H

#include "cmd/outputs.h"
#include "segments/time_expression.h"

/* All members are borrowed. */
struct segment_rows {
	const char *directory;
	struct time_range range;
	const char *event; /* NULL for all events */
	bool logical;	   /* write the logical view */
	const struct format_options *options;
	struct outputs *outputs; /* all outputs are rows */
};

MUST_CHECK struct error *segment_rows_write(const struct segment_rows *rows);

#endif
