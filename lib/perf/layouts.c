#include "perf/layouts.h"

#include "base/alloc.h"

#include <linux/perf_event.h>
#include <stdlib.h>

/* The fields that precede the id in a sample, and follow it in other
 * records. */
static const uint64_t id_place_types = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				       PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
				       PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU;

void layouts_deinit(struct layouts *layouts)
{
	free(layouts->items);
	idmap_deinit(&layouts->by_id);
}

static bool has_same_id_place(const struct record_layout *a, const struct record_layout *b)
{
	if (a->sample_type & b->sample_type & PERF_SAMPLE_IDENTIFIER)
		return true;
	return (a->sample_type & id_place_types) == (b->sample_type & id_place_types);
}

bool layouts_add(struct layouts *layouts, const struct record_layout *layout)
{
	if (layouts->count && !has_same_id_place(&layouts->items[0], layout))
		return false;
	GROW(layouts->items, layouts->count, layouts->room);
	layouts->items[layouts->count++] = *layout;
	return true;
}

void layouts_add_id(struct layouts *layouts, uint64_t id, uint32_t index)
{
	*idmap_put(&layouts->by_id, id, 0) = index;
}

const struct record_layout *layouts_find(const struct layouts *layouts, struct bytes raw)
{
	const struct record_layout *first = &layouts->items[0];
	struct bytes header = raw;
	bool is_sample = bytes_u32(&header) == PERF_RECORD_SAMPLE;
	uint32_t index;
	uint64_t id;

	if (layouts->count == 1 || !record_id(first, raw, &id))
		return first;
	index = idmap_get(&layouts->by_id, id, 0);
	if (index != IDMAP_NONE)
		return &layouts->items[index];
	return is_sample && id ? NULL : first;
}
