/*
 * Adds the branches that a CPU took before a sample, as samples of separate
 * events (profile/cpu_records.h).
 */
#ifndef PROF_RECORD_BRANCH_STACKS_H
#define PROF_RECORD_BRANCH_STACKS_H

#include "base/idmap.h"
#include "perf/record.h"
#include "profile/profile.h"
#include "record/sample_stacks.h"

/* Caches the label sets of branches. Valid for one profile, until the ids of
 * its label sets change. A zeroed cache is empty. */
struct branch_labels {
	struct idmap sets; /* (label set of the thread, properties of the branch) → label set */
};

void branch_labels_deinit(struct branch_labels *labels);

/* Adds the branches of a sample. thread is the label set of the sampled
 * thread. */
void branch_stacks_add(struct branch_labels *labels, struct sample_stacks *stacks,
		       struct profile *profile, const struct record *record, label_set_id thread);

#endif
