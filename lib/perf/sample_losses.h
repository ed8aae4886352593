/*
 * How many records were lost, and which part of that is of a process tree that is sampled on whole
 * CPUs.
 *
 * The kernel reports losses in front of the next record that fits. After the end of sampling there
 * is none, so the rest is read from the counters of the descriptors.
 */
#ifndef PROF_PERF_SAMPLE_LOSSES_H
#define PROF_PERF_SAMPLE_LOSSES_H

#include "perf/record.h"

/* Zeroed: none. */
struct sample_losses {
	/* Records that did not fit into the rings, as reported so far. */
	uint64_t reported[LOST_KINDS];
	/* Of a tree: samples of its processes, samples of others, and of those that were lost how
	 * many were given out as the tree's. */
	uint64_t kept, dropped, of_tree;
};

/* A sample of whole CPUs is of the tree, or not. */
void sample_losses_note_sample(struct sample_losses *losses, bool is_of_tree);
/* The kernel reports a loss: of samples, its count becomes that of the target. */
void sample_losses_report(struct sample_losses *losses, struct record *lost);
/*
 * The rest after the end of sampling. counted: what descriptors have lost in all. False: all of it
 * was reported.
 */
bool sample_losses_take_rest(struct sample_losses *losses, enum lost_records what, uint64_t counted,
			     struct record *ret);

#endif
