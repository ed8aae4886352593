/*
 * Why runs take longer or shorter than others: where elapsed time has changed
 * most, and how many threads ran in that time. The profiles must have the event
 * elapsed (parallelism.h).
 */
#ifndef PROF_REPORT_ELAPSED_CHANGE_H
#define PROF_REPORT_ELAPSED_CHANGE_H

#include "report/comparison.h"
#include "report/display_labels.h"

/* The old profiles come first; there is at least one per side. */
struct elapsed_runs {
	const struct profile *const *profiles;
	size_t count, old_count;
	struct comparison_options comparison; /* of weights */
	enum name_style names;
};

/*
 * Returns "800 ms longer: +600 ms in load_index, which ran alone", or "…: +600 ms
 * while one thread ran" if no function explains the change. Returns NULL if a
 * profile lacks elapsed time or the change may be chance. Time in a library or
 * the kernel belongs to the function of the program that called it. The caller
 * frees the text.
 */
char *elapsed_change_text(const struct elapsed_runs *runs);

#endif
