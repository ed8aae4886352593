#include "dwarf/parts.h"

void dwarf_parts_divide(struct dwarf_parts *parts, uint64_t first, uint64_t bytes,
			uint64_t part_bytes, size_t most,
			uint64_t (*guess)(const void *user, uint64_t offset), const void *user)
{
	size_t wanted = 1;

	if (bytes > part_bytes)
		wanted = bytes / part_bytes < most ? bytes / part_bytes : most;
	parts->items[0].first = first;
	parts->count = 1;
	for (size_t i = 1; i < wanted; i++) {
		uint64_t begin = guess(user, first + bytes / wanted * i);

		if (begin < first + bytes && begin > parts->items[parts->count - 1].first)
			parts->items[parts->count++].first = begin;
	}
}

bool dwarf_parts_begin(const struct dwarf_parts *parts, size_t *next, uint64_t offset)
{
	while (*next < parts->count && parts->items[*next].first < offset)
		++*next;
	return *next < parts->count && parts->items[*next].first == offset;
}

bool dwarf_parts_join(struct dwarf_part *part, uint64_t *end, struct dwarf_range_index *index)
{
	const struct dwarf_range_index *making = &part->making;
	bool counts = part->first == *end;

	for (size_t i = 0; counts && i < making->count; i++)
		dwarf_range_index_add(index, making->items[i].low, making->items[i].high,
				      making->items[i].offset);
	if (counts)
		*end = part->end;
	dwarf_range_index_deinit(&part->making);
	return counts;
}
