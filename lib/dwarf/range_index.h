/*
 * Range index: which parts of a unit's entries or line program belong to which addresses. Built
 * during the first full scan; later lookups read only the parts they need.
 */
#ifndef PROF_DWARF_RANGE_INDEX_H
#define PROF_DWARF_RANGE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_range_entry {
	uint64_t low, high; /* addresses */
	uint64_t offset;    /* where the part begins */
};

/* Sorted by offset. Several may have the same offset, and they may overlap. */
struct dwarf_range_index {
	struct dwarf_range_entry *items;
	size_t count, room;
	bool are_made;	  /* complete */
	bool are_damaged; /* the unit was not read to its end when they were made */
};

void dwarf_range_index_add(struct dwarf_range_index *parts, uint64_t low, uint64_t high,
			   uint64_t offset);
/* Accepts a zero-initialized index. */
void dwarf_range_index_deinit(struct dwarf_range_index *parts);

/*
 * From *index on, the next part that covers one of these addresses (ascending) and does not begin
 * before `offset`; moves *index past it. NULL if there is none.
 */
const struct dwarf_range_entry *dwarf_range_index_next(const struct dwarf_range_index *parts,
						       size_t *index, uint64_t offset,
						       const uint64_t *vaddrs, size_t count);

#endif
