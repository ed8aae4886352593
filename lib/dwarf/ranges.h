/*
 * Iterates over the address ranges of an entry. Source: DWARF 5, 2.17 "Code
 * Addresses, Ranges and Base Addresses", 7.25 "Range List Entries"; DWARF 4,
 * 2.17.3 for .debug_ranges.
 */
#ifndef PROF_DWARF_RANGES_H
#define PROF_DWARF_RANGES_H

#include "dwarf/view.h"

enum dwarf_ranges_kind {
	DWARF_RANGES_NONE,
	DWARF_RANGES_ONE,
	DWARF_RANGES_PAIRS,
	DWARF_RANGES_LIST
};

struct dwarf_ranges {
	const struct dwarf_view *view;
	enum dwarf_ranges_kind kind;
	uint64_t low, high; /* for DWARF_RANGES_ONE */
	struct bytes at;    /* for a list */
	uint64_t base;
};

struct dwarf_ranges dwarf_ranges_of(const struct dwarf_view *view, const struct dwarf_pcs *pcs);

/*
 * Returns the next range with code. Skips empty ranges and those of functions
 * that the linker has discarded, which start at 0, -1 or -2. Decrements *budget
 * for each range entry and returns false when it is 0, because a file may refer
 * to the same list any number of times.
 */
bool dwarf_ranges_next(struct dwarf_ranges *ranges, uint64_t *budget, uint64_t *low,
		       uint64_t *high);

/* Returns a budget that suffices for all lists of a valid file. */
uint64_t dwarf_ranges_budget(const struct dwarf_file *file);

/* Returns true if the address marks discarded code. */
static inline bool dwarf_is_tombstone(uint64_t vaddr)
{
	return vaddr == 0 || vaddr >= (uint64_t)-2;
}

#endif
