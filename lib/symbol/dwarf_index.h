/*
 * Which unit of a file covers an address: from the ranges that the units' root entries name.
 * .debug_aranges would say the same, but LLVM writes none.
 */
#ifndef PROF_SYMBOL_DWARF_INDEX_H
#define PROF_SYMBOL_DWARF_INDEX_H

#include "symbol/dwarf_unit.h"

struct dwarf_range {
	uint64_t low, high;
	uint32_t unit;
};

/* Ascending, without overlaps. */
struct dwarf_index {
	struct dwarf_range *ranges;
	size_t count, room;
	bool is_split; /* there are units whose entries are in other files (.dwo) */
};

void dwarf_index_init(struct dwarf_index *index, const struct dwarf_file *file);
void dwarf_index_deinit(struct dwarf_index *index);

/* UINT32_MAX: none. */
uint32_t dwarf_index_find(const struct dwarf_index *index, uint64_t vaddr);

#endif
