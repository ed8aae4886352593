/*
 * Binary search in sorted integers, and in arrays that are sorted by an integer.
 */
#ifndef PROF_BASE_SEARCH_H
#define PROF_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the index of the first element that is not below value, or count if
 * there is none.
 */
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

/*
 * Returns the index of the first item whose member, a uint64_t by which the
 * array is sorted, is above value, or count if there is none. The item before
 * it is the last one that starts at or before value.
 */
#define SEARCH_AFTER(items, count, member, value)                                                  \
	search_after((count) ? &(items)->member : NULL, sizeof(*(items)), (count), (value))

static inline size_t search_after(const uint64_t *first, size_t item_bytes, size_t count,
				  uint64_t value)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const void *key = (const char *)first + middle * item_bytes;

		if (*(const uint64_t *)key <= value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif
