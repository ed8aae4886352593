/*
 * Counts lost records, and estimates how many of them belong to a process tree
 * that is sampled on whole CPUs.
 *
 * The kernel reports a loss before the next record that fits into the ring. No
 * record follows after the end of sampling, so the remaining losses are read
 * from the counters of the descriptors.
 */
#ifndef PROF_PERF_SAMPLE_LOSSES_H
#define PROF_PERF_SAMPLE_LOSSES_H

#include "perf/record.h"

/* Zeroed: no losses. */
struct sample_losses {
	/* Records that did not fit into the rings, as reported so far. */
	uint64_t reported[LOST_KINDS];
	/* For a tree: samples of its processes, samples of other processes, and
	 * the lost samples that were attributed to the tree. */
	uint64_t kept, dropped, of_tree;
};

/* Counts a sample of whole CPUs. */
void sample_losses_note_sample(struct sample_losses *losses, bool is_of_tree);
/* Processes a loss that the kernel reports. Reduces a count of lost samples to
 * the target's part. */
void sample_losses_report(struct sample_losses *losses, struct record *lost);
/*
 * Returns the losses that were not reported by the end of sampling in *ret.
 * counted is the total from the descriptors. Returns false if all losses were
 * reported.
 */
bool sample_losses_take_rest(struct sample_losses *losses, enum lost_records what, uint64_t counted,
			     struct record *ret);

#endif
