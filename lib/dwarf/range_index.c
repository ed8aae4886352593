#include "dwarf/range_index.h"

#include "base/alloc.h"
#include "base/search.h"

#include <stdlib.h>

void dwarf_range_index_add(struct dwarf_range_index *parts, uint64_t low, uint64_t high,
			   uint64_t offset)
{
	GROW(parts->items, parts->count, parts->room);
	parts->items[parts->count++] = (struct dwarf_range_entry){low, high, offset};
}

void dwarf_range_index_deinit(struct dwarf_range_index *parts)
{
	free(parts->items);
	*parts = (struct dwarf_range_index){0};
}

static bool range_index_covers(const struct dwarf_range_entry *part, const uint64_t *vaddrs,
			       size_t count)
{
	size_t first = search_first(vaddrs, count, part->low);

	return first < count && vaddrs[first] < part->high;
}

const struct dwarf_range_entry *dwarf_range_index_next(const struct dwarf_range_index *parts,
						       size_t *index, uint64_t offset,
						       const uint64_t *vaddrs, size_t count)
{
	while (*index < parts->count) {
		const struct dwarf_range_entry *part = &parts->items[(*index)++];

		if (part->offset >= offset && range_index_covers(part, vaddrs, count))
			return part;
	}
	return NULL;
}
