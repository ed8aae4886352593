#include "proc/code_index.h"

#include "base/alloc.h"

#include <stdlib.h>

/*
 * Limits of functions, their pages and what callers add, in units of at most 56
 * bytes: for all indexes together, and the guaranteed minimum for each.
 */
enum { ALL_MAX = 1 << 20, OWN_MIN = 8 << 10 };

/*
 * Addresses are looked up by page. These are the limits for the functions in
 * one page, including replaced ones.
 */
enum { PAGE_SHIFT = 12, PAGE_FUNCTIONS_MAX = 512, PAGE_OVERLAPS_MAX = 64, PAGES_MAX = 1024 };

/* The maximum time of a step, unless the machine is busy. */
enum { STEP_NS = 4 };

/* The guaranteed reading time per second for each index. */
#define OWN_READING_NS (NS_PER_MS / 2)

/* In a page: the last function, and the link to the one before. */
struct code_link {
	uint32_t range, next;
};

void code_index_deinit(struct code_index *index)
{
	index->budget->used -= index->used;
	free(index->ranges);
	free(index->links);
	idmap_deinit(&index->pages);
}

bool code_index_take(struct code_index *index, uint64_t count)
{
	const uint64_t own = index->used + count;
	const uint64_t used = index->budget->used + count;

	if (own > OWN_MIN && (used > ALL_MAX || own > (ALL_MAX - used) / 2))
		return false;
	index->used = own;
	index->budget->used = used;
	return true;
}

bool code_index_may_read(struct code_index *index, uint64_t now_ns, uint64_t max_ns)
{
	struct time_share *all = &index->budget->reading, *own = &index->reading;

	if (time_share_is_left(own, now_ns, max_ns) && own->spent_ns < OWN_READING_NS)
		return true;
	return time_share_is_left(all, now_ns, max_ns) && own->spent_ns < max_ns - all->spent_ns;
}

void code_index_spend(struct code_index *index, uint64_t steps)
{
	time_share_spend(&index->reading, steps * STEP_NS);
	time_share_spend(&index->budget->reading, steps * STEP_NS);
}

static void add_link(struct code_index *index, uint64_t page, uint32_t range)
{
	uint32_t *last = idmap_put(&index->pages, page, 0);

	GROW(index->links, index->link_count, index->link_room);
	index->links[index->link_count] = (struct code_link){.range = range, .next = *last};
	*last = index->link_count++;
}

void code_index_add(struct code_index *index, const struct code_range *range)
{
	const uint64_t first = range->start >> PAGE_SHIFT, last = (range->end - 1) >> PAGE_SHIFT;

	if (!code_index_take(index, last - first + 2))
		return;
	GROW(index->ranges, index->count, index->room);
	index->ranges[index->count] = *range;
	for (uint64_t page = first; page <= last; page++)
		add_link(index, page, index->count);
	index->count++;
}

uint32_t code_index_find(const struct code_index *index, uint64_t pc, uint64_t time_ns,
			 uint64_t *steps)
{
	uint32_t link = idmap_get(&index->pages, pc >> PAGE_SHIFT, 0), found = CODE_NONE;
	unsigned i;

	for (i = 0; link != IDMAP_NONE && i < PAGE_FUNCTIONS_MAX; i++) {
		const struct code_link *at = &index->links[link];
		const struct code_range *range = &index->ranges[at->range];

		link = at->next;
		if (pc < range->start || pc >= range->end)
			continue;
		found = at->range;
		if (range->from_ns <= time_ns)
			break;
	}
	if (steps)
		*steps += i;
	return found;
}

static bool page_overlaps(const struct code_index *index, uint64_t page, uint64_t start,
			  uint64_t end, uint64_t mark, uint64_t *steps)
{
	uint32_t link = idmap_get(&index->pages, page, 0);

	for (unsigned i = 0; link != IDMAP_NONE && i < PAGE_OVERLAPS_MAX; i++) {
		const struct code_link *at = &index->links[link];
		const struct code_range *range = &index->ranges[at->range];

		++*steps;
		link = at->next;
		if (range->mark == mark && range->start < end && start < range->end)
			return true;
	}
	return false;
}

bool code_index_overlaps(const struct code_index *index, uint64_t start, uint64_t end,
			 uint64_t mark, uint64_t *steps)
{
	uint64_t first = start >> PAGE_SHIFT, last = (end - 1) >> PAGE_SHIFT;

	if (last - first >= PAGES_MAX)
		last = first + PAGES_MAX - 1;
	*steps += last - first;
	for (uint64_t page = first; page <= last; page++)
		if (page_overlaps(index, page, start, end, mark, steps))
			return true;
	return false;
}
