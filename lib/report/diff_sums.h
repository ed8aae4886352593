/*
 * Sums per recording of a merged profile: of each function, and of each stack
 * with enough samples. Sums are exact. The time per column is linear in the
 * stacks and samples. Columns are processed one after the other, so memory
 * hardly grows with their number.
 */
#ifndef PROF_REPORT_DIFF_SUMS_H
#define PROF_REPORT_DIFF_SUMS_H

#include "report/comparison.h"
#include "report/display_labels.h"

/* How samples of the profile are measured. See struct diff_options. */
struct diff_measure {
	bool by_samples;
	const double *samples_per_weight;
};

/*
 * A stack with all stacks that continue it. The first one is STACK_EMPTY;
 * parents precede their children.
 */
struct diff_sum {
	uint32_t label;	 /* of its leaf; 0 for STACK_EMPTY */
	uint32_t parent; /* its index; STACK_EMPTY is its own parent */
};

struct diff_sums {
	uint32_t columns;
	/* Arrays by index or label, then by column. */
	struct measurement *selfs, *totals; /* of functions; recursion counts once */
	struct measurement *stack_totals;
	struct diff_sum *stacks;
	uint32_t stack_count;
};

/*
 * Omits stacks with fewer samples in all columns together, except STACK_EMPTY.
 */
void diff_sums_init(struct diff_sums *sums, const struct display_labels *labels,
		    const struct diff_measure *measure, double fewest_samples);
void diff_sums_deinit(struct diff_sums *sums);

#endif
