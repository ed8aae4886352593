/*
 * The durations of measured calls (profile/latency.h): how many calls of a view are in each class,
 * and which class a share of them does not exceed.
 */
#ifndef PROF_REPORT_LATENCY_SUMS_H
#define PROF_REPORT_LATENCY_SUMS_H

#include "profile/latency.h"
#include "report/view.h"

struct latency_sums {
	uint64_t calls[LATENCY_CLASSES];
	uint64_t count;
	unsigned first, last; /* classes with calls */
};

/* count is 0: the view is not of calls. */
struct latency_sums latency_sums_of(const struct view *view);
/* The class of the call that is slower than this share of all, 0 to 1. There must be calls. */
unsigned latency_sums_quantile(const struct latency_sums *sums, double share);

#endif
