/*
 * How many allocations a sampled one stands for. If samples are a random number
 * of bytes apart with mean R, an allocation of S bytes is sampled with
 * probability 1 - exp(-S / R). Allocators with a built-in profiler (jemalloc,
 * tcmalloc, Go) sample in the same way.
 */
#ifndef PROF_BASE_POISSON_H
#define PROF_BASE_POISSON_H

#include <math.h>

/* Returns the number of such allocations. Both arguments are above 0. */
static inline double poisson_objects(double size_bytes, double period_bytes)
{
	return -1 / expm1(-size_bytes / period_bytes);
}

#endif
