/*
 * Sums per row: each line of each frame (labels->lines) belongs to one row or to none.
 */
#ifndef PROF_REPORT_TALLY_H
#define PROF_REPORT_TALLY_H

#include "report/view.h"

#define TALLY_NO_ROW UINT32_MAX

/* Of a row: self counts the samples that were taken in it, total those that have it anywhere in
 * their stack, each once. */
struct tally {
	struct sum self, total;
};

/* row_of_line: by index of labels->lines. The result has `rows` elements and is to be freed. */
struct tally *tally_rows(const struct view *view, const uint32_t *row_of_line, uint32_t rows);

#endif
