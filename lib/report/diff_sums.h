/*
 * Sums per recording of a merged profile: of each function, and of each stack with enough samples.
 * Exact; the time per column is linear in the stacks and samples. Columns are summed up one after
 * the other, so memory hardly grows with their number.
 */
#ifndef PROF_REPORT_DIFF_SUMS_H
#define PROF_REPORT_DIFF_SUMS_H

#include "report/comparison.h"
#include "report/display_labels.h"

/* How the samples of the profile are measured; as of struct diff_options. */
struct diff_measure {
	bool by_samples;
	const double *samples_per_weight;
};

/* A stack with all that go on from it. The first one is STACK_EMPTY; parents stand before. */
struct diff_sum {
	uint32_t label;	 /* of its leaf; 0 of STACK_EMPTY, which has none */
	uint32_t parent; /* its index; of STACK_EMPTY: its own */
};

struct diff_sums {
	uint32_t columns;
	/* Each by index or label, then by column. */
	struct measurement *selfs, *totals; /* of functions; recursion counts once */
	struct measurement *stack_totals;
	struct diff_sum *stacks;
	uint32_t stack_count;
};

/* Leaves out stacks with fewer samples in all columns together, except STACK_EMPTY. */
void diff_sums_init(struct diff_sums *sums, const struct display_labels *labels,
		    const struct diff_measure *measure, double fewest_samples);
void diff_sums_deinit(struct diff_sums *sums);

#endif
