/*
 * The durations of measured calls (profile/latency.h): the number of calls of a
 * view in each bucket, and quantiles.
 */
#ifndef PROF_REPORT_LATENCY_SUMS_H
#define PROF_REPORT_LATENCY_SUMS_H

#include "profile/latency.h"
#include "report/view.h"

struct latency_sums {
	uint64_t calls[LATENCY_CLASSES];
	uint64_t count;
	unsigned first, last; /* buckets with calls */
};

/* Returns a count of 0 if the view is not of calls. */
struct latency_sums latency_sums_of(const struct view *view);
/* Returns the bucket of the quantile `share`, 0 to 1. There must be calls. */
unsigned latency_sums_quantile(const struct latency_sums *sums, double share);

#endif
