/*
 * An index of the parts of a unit's entries or line program by address range.
 * It is built during the first full scan, so that later lookups read only the
 * parts that they need.
 */
#ifndef PROF_DWARF_RANGE_INDEX_H
#define PROF_DWARF_RANGE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_range_entry {
	uint64_t low, high; /* addresses */
	uint64_t offset;    /* start of the part */
};

/*
 * Sorted by offset. Several entries may have the same offset, and their ranges
 * may overlap.
 */
struct dwarf_range_index {
	struct dwarf_range_entry *items;
	size_t count, room;
	bool are_made;	  /* complete */
	bool are_damaged; /* the unit could not be read to its end */
};

void dwarf_range_index_add(struct dwarf_range_index *parts, uint64_t low, uint64_t high,
			   uint64_t offset);
/* Accepts a zero-initialized index. */
void dwarf_range_index_deinit(struct dwarf_range_index *parts);

/*
 * Returns the next part, starting with *index, that covers one of the addresses
 * (ascending) and does not start before `offset`. Advances *index past it.
 * Returns NULL if there is none.
 */
const struct dwarf_range_entry *dwarf_range_index_next(const struct dwarf_range_index *parts,
						       size_t *index, uint64_t offset,
						       const uint64_t *vaddrs, size_t count);

#endif
