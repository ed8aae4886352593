/*
 * Binary search in sorted integers.
 */
#ifndef PROF_BASE_SEARCH_H
#define PROF_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/* The index of the first element that is not below value; count if there is none. */
static inline size_t search_first(const uint64_t *sorted, size_t count, uint64_t value)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sorted[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif
