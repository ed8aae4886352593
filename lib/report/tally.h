/*
 * Sums per row. Each line of each frame (labels->lines) belongs to at most one
 * row.
 */
#ifndef PROF_REPORT_TALLY_H
#define PROF_REPORT_TALLY_H

#include "report/view.h"

#define TALLY_NO_ROW UINT32_MAX

/*
 * The sums of a row. self counts the samples that were taken in it. total
 * counts the samples that have it anywhere in their stack, each once.
 */
struct tally {
	struct sum self, total;
};

/*
 * Returns the sums of all rows, an array of `rows` elements that the caller
 * frees. row_of_line: by index of labels->lines.
 */
struct tally *tally_rows(const struct view *view, const uint32_t *row_of_line, uint32_t rows);

#endif
