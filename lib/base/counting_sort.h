/*
 * Counting sort: groups items by small integer keys, in linear time.
 */
#ifndef PROF_BASE_COUNTING_SORT_H
#define PROF_BASE_COUNTING_SORT_H

#include "base/alloc.h"

#include <stdint.h>

/* Returns the key of an item. */
typedef uint32_t counting_sort_key(const void *context, uint32_t item);

/*
 * Returns the items 0 to count - 1 ordered by key. Items with the same key keep
 * their order. Keys are below `keys`. The items of a key are those from
 * (*first)[key] to (*first)[key + 1]. The caller frees both arrays. key() is
 * called twice per item and inlined if it is known at compile time.
 */
static inline __attribute__((always_inline)) uint32_t *counting_sort(uint32_t count, uint32_t keys,
								     counting_sort_key *key,
								     const void *context,
								     uint32_t **first)
{
	uint32_t *order = xcalloc(count, sizeof(*order));
	/*
	 * Shifted by one: end[key] becomes (*first)[key + 1] while items are
	 * placed.
	 */
	uint32_t *end = (*first = xcalloc((size_t)keys + 2, sizeof(*end))) + 1;

	for (uint32_t i = 0; i < count; i++)
		end[key(context, i) + 1]++;
	for (uint32_t i = 1; i <= keys; i++)
		end[i] += end[i - 1];
	for (uint32_t i = 0; i < count; i++)
		order[end[key(context, i)]++] = i;
	return order;
}

#endif
