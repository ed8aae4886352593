/*
 * The texts of a comparison's HTML report.
 */
#ifndef PROF_CMD_DIFF_DIFF_PAGE_H
#define PROF_CMD_DIFF_DIFF_PAGE_H

#include "cmd/diff/diff_report.h"
#include "format/page/comparison.h"

struct diff_page {
	struct page_comparison comparison;
	char *verdict, *causes, *sides, *uncertainty, *of;
};

/* Borrows the report. The file in which widths are shown has the weight of all
 * recordings of the larger side. */
void diff_page_init(struct diff_page *page, const struct diff_report *report);
void diff_page_deinit(struct diff_page *page);

#endif
