/*
 * The difference between old and new recordings, by function and by stack, with a verdict based on
 * the statistics of report/comparison.h.
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
	/* By column: estimated samples per weight of 1, if the file does not count samples; 0: it
	 * does. */
	const double *samples_per_weight;
	const double *threads; /* by column: the number with samples; 0: unknown */
	/* By column: the standard error of its weight, as a share; NULL: weights are exact. */
	const double *weight_errors;
};

/* Share of the whole: smaller changes of a function are shown only if they are notable. */
#define DIFF_LEAST_CHANGE 0.005

struct diff_row {
	uint32_t label;
	struct change self, total;
};

/* The first stack is above all roots; among children and siblings 0 means none. */
#define DIFF_TOP 0u

struct diff_stack {
	uint32_t label;	 /* of its leaf */
	uint32_t parent; /* comes before it */
	uint32_t first_child, next_sibling;
	struct change change; /* of its total */
};

enum diff_verdict {
	DIFF_NOTHING,  /* a side has no samples */
	DIFF_UNJUDGED, /* a side has one recording, so changes are not judged */
	DIFF_SAME,     /* no significant change */
	DIFF_SLOWER,   /* the whole costs more … */
	DIFF_FASTER,   /* … or less; only if weights are compared */
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
	double overdispersion;	       /* as of comparison_overdispersion() */
	struct diff_row *rows; /* those whose self has a notable change, then those whose self has
				  changed by more than its margin, then those whose total has
				  a notable change, then the others; each by the change */
	uint32_t count;
	struct diff_stack *stacks; /* those with enough samples to say something */
	uint32_t stack_count;	   /* 0: nothing to compare */
};

/* merged: from merge_profiles(), one column per recording, at least one per side; borrowed. */
void diff_init(struct diff *diff, const struct profile *merged, const struct diff_options *options);
void diff_deinit(struct diff *diff);

#endif
