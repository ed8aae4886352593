/*
 * What the recordings that lie side by side in a merged profile have of each function, and of each
 * stack that has enough samples to say something. Exact, in time linear in the stacks and cells for
 * each column. One column is summed up at a time, so memory hardly grows with their number.
 */
#ifndef PROF_REPORT_DIFF_SUMS_H
#define PROF_REPORT_DIFF_SUMS_H

#include "report/comparison.h"
#include "report/labels.h"

/* How the cells of the profile are measured; as of struct diff_options. */
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

/* Stacks of fewer samples, of all columns together, are left out, but for STACK_EMPTY. */
void diff_sums_init(struct diff_sums *sums, const struct labels *labels,
		    const struct diff_measure *measure, double fewest_samples);
void diff_sums_deinit(struct diff_sums *sums);

#endif
