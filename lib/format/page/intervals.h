/*
 * The intervals of a profile for the page, bounded in number: of more than `most`, short ones of
 * one aggregated sample that begin in the same span of time become one. Its weight is the sum of
 * theirs, and it lasts from the first to the last. So all sums stay exact, and what part of an
 * interval is waiting stays true at the scale of the span, which is as short as the bound allows.
 */
#ifndef PROF_FORMAT_PAGE_INTERVALS_H
#define PROF_FORMAT_PAGE_INTERVALS_H

#include "profile/profile.h"

struct merged_intervals {
	struct profile_interval *items;
	uint64_t count;
	uint64_t span_ns; /* 0: all are as they were recorded */
};

/* More than `most` are left only where that many samples have intervals. */
void merge_intervals(const struct profile *profile, uint64_t most, struct merged_intervals *ret);
void merged_intervals_deinit(struct merged_intervals *intervals);

#endif
