/*
 * The branches that CPUs took before samples, as samples of events of their own
 * (profile/cpu_records.h).
 */
#ifndef PROF_RECORD_BRANCH_STACKS_H
#define PROF_RECORD_BRANCH_STACKS_H

#include "base/idmap.h"
#include "perf/record.h"
#include "profile/profile.h"
#include "record/sample_stacks.h"

/* The label sets of branches, of one profile until ids of its label sets change. Zeroed: empty. */
struct branch_labels {
	struct idmap sets; /* (label set of the thread, properties of the branch) → label set */
};

void branch_labels_deinit(struct branch_labels *labels);

/* Adds the branches of a sample; thread: its labels. */
void branch_stacks_add(struct branch_labels *labels, struct sample_stacks *stacks,
		       struct profile *profile, const struct record *record, label_set_id thread);

#endif
