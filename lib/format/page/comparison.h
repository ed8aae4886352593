/*
 * The part that the HTML report of a comparison has in addition: the verdict in
 * words, and the change of each function with its interval.
 */
#ifndef PROF_FORMAT_PAGE_COMPARISON_H
#define PROF_FORMAT_PAGE_COMPARISON_H

#include "report/diff.h"

/* Everything is borrowed. */
struct page_comparison {
	const struct diff *diff;
	const char *verdict;	 /* "slower: +12.9 % ± 10.2 % CPU time" */
	const char *causes;	 /* what has changed most, in lines; or "" */
	const char *sides;	 /* a line for each side: its recordings */
	const char *uncertainty; /* what the verdict depends on, in lines */
	const char *of;		 /* what a change is a share of: "old's CPU time" */
	uint32_t recordings;	 /* the profile contains the weight of this many per side */
};

#define PAGE_NO_LABEL UINT32_MAX

/*
 * Returns, for each row of the difference, its label among the labels of the
 * profile that is written, or PAGE_NO_LABEL. The caller frees it.
 */
uint32_t *page_comparison_labels(const struct page_comparison *comparison,
				 const struct display_labels *labels);

#endif
