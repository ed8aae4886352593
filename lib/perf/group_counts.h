/*
 * Leader sampling: each sample of a group's leader contains the counts of all
 * members so far (PERF_SAMPLE_READ with PERF_FORMAT_GROUP and _ID). The
 * increase since the previous sample of the leader becomes the weight of the
 * member's event at the stack of this sample.
 *
 * Counts are per thread, or per CPU when whole CPUs are sampled. If a sample is
 * lost, its increase is added to the next one.
 */
#ifndef PROF_PERF_GROUP_COUNTS_H
#define PROF_PERF_GROUP_COUNTS_H

#include "base/idmap.h"
#include "perf/layouts.h"

/* Maximum number of events in a group. */
enum { GROUP_MEMBERS_MAX = 16 };

/* Zeroed: no sample has come yet. */
struct group_counts {
	/* Maps (kernel's event id, thread) to an index into values. */
	struct idmap places;
	uint64_t *values; /* the counts in the last sample */
	uint32_t count, room;
	bool is_forgetful;
	struct record_count of_sample[GROUP_MEMBERS_MAX];
};

void group_counts_deinit(struct group_counts *counts);

/* Sets the sample's counts from its group values. They are borrowed until the
 * next call. tid is the thread that the values count, or 0 if they count a
 * CPU. */
void group_counts_read(struct group_counts *counts, const struct layouts *layouts, pid_t tid,
		       struct record_sample *sample);

#endif
