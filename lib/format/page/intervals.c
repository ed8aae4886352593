#include "format/page/intervals.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

#define SHORTEST_SPAN_NS 1000u
#define NO_INTERVAL UINT64_MAX

/* Finds the first start and the last end. */
static void find_bounds(const struct merged_intervals *intervals, uint64_t *from, uint64_t *to)
{
	*from = UINT64_MAX;
	*to = 0;
	for (uint64_t i = 0; i < intervals->count; i++) {
		if (intervals->items[i].start_ns < *from)
			*from = intervals->items[i].start_ns;
		if (intervals->items[i].end_ns > *to)
			*to = intervals->items[i].end_ns;
	}
}

/* last: by aggregated sample, the index of its last interval that was kept. */
static void merge_within(struct merged_intervals *intervals, uint64_t from, uint64_t span,
			 uint64_t *last)
{
	uint64_t kept = 0;

	for (uint64_t i = 0; i < intervals->count; i++) {
		struct profile_interval item = intervals->items[i], *other;
		uint64_t at = last[item.sample];

		other = at == NO_INTERVAL ? NULL : &intervals->items[at];
		if (!other || item.end_ns - item.start_ns >= span ||
		    (item.start_ns - from) / span != (other->start_ns - from) / span) {
			last[item.sample] = kept;
			intervals->items[kept++] = item;
			continue;
		}
		other->weight += item.weight;
		if (item.start_ns < other->start_ns)
			other->start_ns = item.start_ns;
		if (item.end_ns > other->end_ns)
			other->end_ns = item.end_ns;
	}
	intervals->count = kept;
}

static void copy_intervals(const struct profile *profile, struct merged_intervals *ret)
{
	const struct profile_intervals all = profile_intervals(profile);

	*ret = (struct merged_intervals){.items = xcalloc(all.count + 1, sizeof(*ret->items)),
					 .count = all.count};
	for (uint64_t i = 0; i < all.count; i++) {
		ret->items[i] = all.items[i];
		if (ret->items[i].end_ns < ret->items[i].start_ns)
			ret->items[i].end_ns = ret->items[i].start_ns;
	}
}

void merge_intervals(const struct profile *profile, uint64_t most, struct merged_intervals *ret)
{
	uint64_t samples = profile_samples(profile).count, from, to;
	CLEANUP(free_ptr) uint64_t *last = NULL;

	copy_intervals(profile, ret);
	if (ret->count <= most)
		return;
	find_bounds(ret, &from, &to);
	last = xcalloc(samples, sizeof(*last));
	for (uint64_t span = SHORTEST_SPAN_NS; ret->count > most; span *= 2) {
		for (uint64_t i = 0; i < samples; i++)
			last[i] = NO_INTERVAL;
		merge_within(ret, from, span, last);
		ret->span_ns = span;
		if (span > to - from)
			break; /* there is one interval per sample */
	}
}

void merged_intervals_deinit(struct merged_intervals *intervals)
{
	free(intervals->items);
}
