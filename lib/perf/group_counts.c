#include "perf/group_counts.h"

#include "base/alloc.h"

#include <stdlib.h>

/* Limits memory to 20 MB when threads come and go. At the limit all values are
 * dropped, and the next sample of each thread only sets its base. */
enum { VALUES_MAX = 512 << 10 };

void group_counts_deinit(struct group_counts *counts)
{
	idmap_deinit(&counts->places);
	free(counts->values);
}

static void group_counts_forget(struct group_counts *counts)
{
	idmap_deinit(&counts->places);
	counts->places = (struct idmap){0};
	counts->count = 0;
	counts->is_forgetful = true;
}

/* Returns the increase since the previous sample. */
static uint64_t group_counts_take_value(struct group_counts *counts, uint64_t id, pid_t tid,
					uint64_t value)
{
	uint32_t *place;
	uint64_t before;

	if (counts->count == VALUES_MAX)
		group_counts_forget(counts);
	place = idmap_put(&counts->places, id, (uint32_t)tid);
	if (*place == IDMAP_NONE) {
		GROW(counts->values, counts->count, counts->room);
		*place = counts->count++;
		counts->values[*place] = value;
		return counts->is_forgetful ? 0 : value;
	}
	before = counts->values[*place];
	counts->values[*place] = value;
	/* The value decreases if a thread id was reused. */
	return value >= before ? value - before : value;
}

void group_counts_read(struct group_counts *counts, const struct layouts *layouts, pid_t tid,
		       struct record_sample *sample)
{
	struct bytes values = sample->group_values;
	unsigned used = 0;

	while (bytes_left(&values) >= sample->group_value_bytes && used < GROUP_MEMBERS_MAX) {
		struct bytes entry = bytes_sub(&values, sample->group_value_bytes);
		uint64_t value = bytes_u64(&entry);
		uint64_t id = bytes_u64(&entry);
		uint32_t index = idmap_get(&layouts->by_id, id, 0);
		uint64_t weight;

		if (index == IDMAP_NONE || layouts->items[index].event == sample->event)
			continue;
		weight = group_counts_take_value(counts, id, tid, value);
		if (weight)
			counts->of_sample[used++] = (struct record_count){
				.event = layouts->items[index].event, .weight = weight};
	}
	sample->counts = counts->of_sample;
	sample->count_count = used;
}
