/*
 * Limits the number of a profile's intervals for the HTML report. If there are
 * more than `most`, short intervals of one aggregated sample that start in the
 * same time span are merged. The merged interval has the sum of their weights
 * and lasts from the first to the last. Thus all sums stay exact, and the part
 * of an interval that is waiting stays correct at the scale of the span. The
 * span is as short as the limit allows.
 */
#ifndef PROF_FORMAT_PAGE_INTERVALS_H
#define PROF_FORMAT_PAGE_INTERVALS_H

#include "profile/profile.h"

struct merged_intervals {
	struct profile_interval *items;
	uint64_t count;
	uint64_t span_ns; /* 0 means no intervals were merged */
};

/* More than `most` remain only if more samples than that have intervals. */
void merge_intervals(const struct profile *profile, uint64_t most, struct merged_intervals *ret);
void merged_intervals_deinit(struct merged_intervals *intervals);

#endif
