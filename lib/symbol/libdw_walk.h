/* Walks over DWARF entries with libdw. The walks terminate for any file. */
#ifndef PROF_SYMBOL_LIBDW_WALK_H
#define PROF_SYMBOL_LIBDW_WALK_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum nesting of entries. Deeper ones are ignored, as in dwarf/chain.c. */
enum { LIBDW_DEPTH_MAX = 2000 };

/*
 * The number of steps left. An entry takes at least a byte, and no two entries
 * of a unit have the same place, even if DW_AT_sibling is wrong. So the size of
 * the data is a sufficient budget for entries and ranges.
 */
struct libdw_budget {
	uint64_t entries, ranges;
};

/* Returns false if this was the last sibling or the budget is exhausted. */
bool libdw_next_sibling(Dwarf_Die *die, struct libdw_budget *budget);

/*
 * Iterator over the address ranges of an entry. Only `die` must be initialized;
 * the rest is zero.
 */
struct libdw_ranges {
	Dwarf_Die *die;
	ptrdiff_t at;
	Dwarf_Addr base;
	/* The range that libdw_next_range() has found. It is not empty. */
	uint64_t low, high;
};

/* Advances to the next range with code. Returns false at the end. */
bool libdw_next_range(struct libdw_ranges *ranges, struct libdw_budget *budget);

bool libdw_has_code(Dwarf_Die *die);
/*
 * Returns true if entries with this tag never contain functions, at any depth.
 */
bool libdw_is_leaf(int tag);
/* Reads an attribute. Returns false if the entry does not have it. */
bool libdw_number(Dwarf_Die *die, unsigned attribute, uint64_t *ret);

#endif
