/*
 * Finds the unit that covers an address, from the ranges in the units' root
 * entries. .debug_aranges has the same information, but LLVM does not write it.
 * A skeleton unit has the ranges of its split unit, so the split unit need not
 * be opened (DWARF 5, 3.1.2).
 */
#ifndef PROF_DWARF_INDEX_H
#define PROF_DWARF_INDEX_H

#include "dwarf/unit.h"

struct dwarf_range {
	uint64_t low, high;
	uint32_t unit;
};

/* Sorted and without overlaps. */
struct dwarf_index {
	struct dwarf_range *ranges;
	size_t count, room;
	uint32_t skeletons; /* number of units whose entries are in other files (.dwo) */
	bool has_unread;    /* there are units whose addresses could not be read */
};

void dwarf_index_init(struct dwarf_index *index, const struct dwarf_file *file);
void dwarf_index_deinit(struct dwarf_index *index);

/* Returns UINT32_MAX if no unit covers the address. */
uint32_t dwarf_index_find(const struct dwarf_index *index, uint64_t vaddr);

#endif
