/*
 * A number of samples and the sum of their weights, in the unit of the event.
 */
#ifndef PROF_REPORT_SUM_H
#define PROF_REPORT_SUM_H

#include <stdint.h>

struct sum {
	uint64_t samples, weight;
};

static inline void sum_add(struct sum *to, struct sum more)
{
	to->samples += more.samples;
	to->weight += more.weight;
}

static inline void sum_subtract(struct sum *from, struct sum less)
{
	from->samples -= less.samples;
	from->weight -= less.weight;
}

#endif
