/*
 * The options of the HTML report.
 */
#ifndef PROF_FORMAT_PAGE_OPTIONS_H
#define PROF_FORMAT_PAGE_OPTIONS_H

#include <stdbool.h>

struct page_comparison; /* format/page/comparison.h */

struct page_options {
	bool source; /* include the text of sampled source lines */
	/* A difference of two events is shown as one only if this is set. */
	const struct page_comparison *comparison;
};

#endif
