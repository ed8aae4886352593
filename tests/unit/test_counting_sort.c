#include "base/counting_sort.h"

#include "base/cleanup.h"

#include "unit_test.h"

#include <stdlib.h>

static uint32_t key_of(const void *keys, uint32_t item)
{
	return ((const uint32_t *)keys)[item];
}

TEST(items_are_grouped_by_key_in_their_order)
{
	static const uint32_t keys[] = {3, 0, 3, 1, 0, 3};
	CLEANUP(free_ptr) uint32_t *first = NULL;
	CLEANUP(free_ptr)
	uint32_t *order = counting_sort(ARRAY_SIZE(keys), 5, key_of, keys, &first);

	assert_memory_equal(order, ((uint32_t[]){1, 4, 3, 0, 2, 5}), sizeof(keys));
	assert_memory_equal(first, ((uint32_t[]){0, 2, 3, 3, 6, 6}), 6 * sizeof(*first));
}

TEST(without_items_every_group_is_empty)
{
	CLEANUP(free_ptr) uint32_t *first = NULL;
	CLEANUP(free_ptr) uint32_t *order = counting_sort(0, 2, key_of, NULL, &first);

	assert_non_null(order);
	assert_memory_equal(first, ((uint32_t[]){0, 0, 0}), 3 * sizeof(*first));
}
