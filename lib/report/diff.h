/*
 * What became slower: recordings of before and after, by function and by stack, and a verdict that
 * knows about chance (report/comparison.h).
 */
#ifndef PROF_REPORT_DIFF_H
#define PROF_REPORT_DIFF_H

#include "report/comparison.h"
#include "report/labels.h"

struct diff_options {
	struct comparison_options comparison;
	uint32_t old_count; /* of the columns, the first ones */
	bool by_samples;    /* each sample weighs the same */
	/* By column: how many samples stand for a weight of 1 where the file does not count them;
	 * 0: it does. */
	const double *samples_per_weight;
	const double *threads; /* by column: that have samples; 0 where unknown */
};

/* Of the whole: a function's smaller change says nothing unless it is significant. */
#define DIFF_LEAST_CHANGE 0.005

struct diff_row {
	uint32_t label;
	struct change self, total;
};

/* The stack above all roots is the first one; 0 stands for none among children and siblings. */
#define DIFF_TOP 0u

struct diff_stack {
	uint32_t label;	 /* of its leaf */
	uint32_t parent; /* stands before it */
	uint32_t first_child, next_sibling;
	struct change change; /* of its total */
};

enum diff_verdict {
	DIFF_NOTHING, /* a side has no samples */
	DIFF_SAME,    /* no significant change */
	DIFF_SLOWER,  /* the whole costs more … */
	DIFF_FASTER,  /* … or less; of weights alone */
	DIFF_CHANGED, /* functions do, the whole does not, as far as can be seen */
};

struct diff {
	struct labels labels;
	uint32_t columns;
	struct measurement *wholes; /* by column */
	enum diff_verdict verdict;
	struct change whole;
	double old_weight, new_weight; /* a recording, in the mean */
	double spread;		       /* as of comparison_spread() */
	struct diff_row *rows; /* those whose self has changed significantly, then those whose self
				  has by more than its margin, then those whose total has
				  significantly, then the others; each by the change */
	uint32_t count;
	struct diff_stack *stacks; /* those with enough samples to say something */
	uint32_t stack_count;	   /* 0 where there is nothing to compare */
};

/* merged: as of merge_profiles(), a column a recording; borrowed. At least one a side. */
void diff_init(struct diff *diff, const struct profile *merged, const struct diff_options *options);
void diff_deinit(struct diff *diff);

#endif
