/*
 * Leader sampling: the samples of a group's leader tell what each member has counted by then
 * (PERF_SAMPLE_READ with PERF_FORMAT_GROUP and _ID). What it has counted since the leader's sample
 * before becomes a weight of the member's event at the stack of this sample.
 *
 * Counts are of a thread, or of a CPU where whole CPUs are sampled; a sample that was lost leaves
 * its part to the next one.
 */
#ifndef PROF_PERF_GROUP_COUNTS_H
#define PROF_PERF_GROUP_COUNTS_H

#include "base/idmap.h"
#include "perf/layouts.h"

/* Events of one group. */
enum { GROUP_MEMBERS_MAX = 16 };

/* Zeroed: no sample has come. */
struct group_counts {
	struct idmap places; /* (kernel's id, thread) → index into values */
	uint64_t *values;    /* as the last sample told them */
	uint32_t count, room;
	bool is_forgetful;
	struct record_count of_sample[GROUP_MEMBERS_MAX];
};

void group_counts_deinit(struct group_counts *counts);

/* Sets the sample's counts from its values; they are borrowed until the next call. tid: the thread
 * that they are of; 0: a CPU. */
void group_counts_read(struct group_counts *counts, const struct layouts *layouts, pid_t tid,
		       struct record_sample *sample);

#endif
