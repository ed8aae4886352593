/*
 * What a sampled allocation stands for. Samples that are a random number of bytes apart, with mean
 * R, meet an allocation of S bytes with probability 1 - exp(-S / R). Allocators that profile
 * themselves sample so, too (jemalloc, tcmalloc, Go).
 */
#ifndef PROF_BASE_POISSON_H
#define PROF_BASE_POISSON_H

#include <math.h>

/* The number of such allocations. Both are above 0. */
static inline double poisson_objects(double size_bytes, double period_bytes)
{
	return -1 / expm1(-size_bytes / period_bytes);
}

#endif
