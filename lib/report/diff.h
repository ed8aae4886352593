/*
 * The difference between old and new recordings by function and by stack, with
 * a verdict based on the statistics of report/comparison.h.
 */
#ifndef PROF_REPORT_DIFF_H
#define PROF_REPORT_DIFF_H

#include "report/comparison.h"
#include "report/display_labels.h"

struct diff_options {
	struct comparison_options comparison;
	uint32_t old_count;    /* the first columns are the old ones */
	bool by_samples;       /* all samples have the same weight */
	enum name_style names; /* of labels */
	/*
	 * For each column, the estimated number of samples per weight of 1, or
	 * 0 if the file counts samples.
	 */
	const double *samples_per_weight;
	/*
	 * For each column, the number of threads with samples, or 0 if unknown.
	 */
	const double *threads;
	/*
	 * For each column, the standard error of its weight as a share. NULL if
	 * weights are exact.
	 */
	const double *weight_errors;
};

/*
 * A share of the whole. Smaller changes of a function are shown only if they
 * are notable.
 */
#define DIFF_LEAST_CHANGE 0.005

struct diff_row {
	uint32_t label;
	struct change self, total;
};

/* The weight that no sample covers, as shares like those of a change. */
struct diff_unsampled {
	double before, after;
};

/*
 * The first stack is the parent of all roots. Among children and siblings, 0
 * means none.
 */
#define DIFF_TOP 0u

struct diff_stack {
	uint32_t label;	 /* of its leaf */
	uint32_t parent; /* precedes it in the array */
	uint32_t first_child, next_sibling;
	struct change change; /* of its total */
};

enum diff_verdict {
	DIFF_NOTHING,  /* a side has no samples */
	DIFF_UNJUDGED, /* a side has only one recording, so significance is unknown */
	DIFF_SAME,     /* no significant change */
	DIFF_SLOWER,   /* the whole costs more; only if weights are compared */
	DIFF_FASTER,   /* the whole costs less; only if weights are compared */
	DIFF_CHANGED,  /* functions have changed significantly, the whole has not */
};

struct diff {
	struct display_labels labels;
	uint32_t columns;
	struct measurement *wholes; /* by column */
	enum diff_verdict verdict;
	struct whole_estimate whole_estimate;
	struct change whole;
	double old_weight, new_weight; /* mean per recording */
	double overdispersion;	       /* see comparison_overdispersion() */
	/*
	 * First the rows with a notable change of self, then those whose self
	 * changed by more than its margin, then those with a notable change of
	 * total, then the others. Each group is sorted by change.
	 */
	struct diff_row *rows;
	uint32_t count;
	/* Part of the whole, but of no row: it is not the cost of a function. */
	struct diff_unsampled unsampled;
	struct diff_stack *stacks; /* stacks with enough samples for a comparison */
	uint32_t stack_count;	   /* 0 means nothing to compare */
};

/*
 * merged: the result of merge_profiles() with one column per recording and at
 * least one per side. It is borrowed.
 */
void diff_init(struct diff *diff, const struct profile *merged, const struct diff_options *options);
void diff_deinit(struct diff *diff);

/* Returns true for main() and its callers, whose total is the whole. */
bool diff_row_is_whole(const struct diff *diff, const struct diff_row *row);

#endif
