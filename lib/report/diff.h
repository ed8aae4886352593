/*
 * What became slower: recordings of before and after, by function and by stack, and a verdict that
 * knows about chance (report/comparison.h).
 */
#ifndef PROF_REPORT_DIFF_H
#define PROF_REPORT_DIFF_H

#include "report/comparison.h"
#include "report/tree.h"

struct diff_options {
	struct comparison_options comparison;
	uint32_t old_count; /* of the columns, the first ones */
	bool by_samples;    /* each sample weighs the same */
	/* By column: how many samples stand for a weight of 1 where the file does not count them;
	 * 0: it does. */
	const double *samples_per_weight;
	const double *threads; /* by column: that have samples; 0 where unknown */
};

struct diff_row {
	uint32_t label;
	struct change self, total;
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
	struct diff_row *rows; /* those whose self has changed significantly, then those whose total
				  has, then the others; each by the change */
	uint32_t count;
	struct tree tree;
	struct change
		*nodes; /* by node of the tree: of its total; nothing where it has few samples */
};

/* merged: as of merge_profiles(), a column a recording; borrowed. At least one a side. */
void diff_init(struct diff *diff, const struct profile *merged, const struct diff_options *options);
void diff_deinit(struct diff *diff);

#endif
