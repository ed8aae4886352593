/* Walks over the entries of DWARF with libdw, which end whatever the file says. */
#ifndef PROF_SYMBOL_LIBDW_WALK_H
#define PROF_SYMBOL_LIBDW_WALK_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Entries in entries: deeper ones are ignored, as in dwarf/chain.c. */
enum { LIBDW_DEPTH_MAX = 2000 };

/*
 * How many steps are left. An entry takes a byte at least, and no two of a unit are at the same
 * place, whatever DW_AT_sibling says: the bytes that are walked over are enough for both.
 */
struct libdw_budget {
	uint64_t entries, ranges;
};

/* False if it was the last, or the budget is used up. */
bool libdw_next_sibling(Dwarf_Die *die, struct libdw_budget *budget);

/* The ranges of addresses of an entry; zero-initialized but for the entry. */
struct libdw_ranges {
	Dwarf_Die *die;
	ptrdiff_t at;
	Dwarf_Addr base;
	uint64_t low, high; /* the range that libdw_next_range() has found: not empty */
};

/* The next range with code. */
bool libdw_next_range(struct libdw_ranges *ranges, struct libdw_budget *budget);

bool libdw_has_code(Dwarf_Die *die);
/* Whether entries of this tag have no functions in them, however deep. */
bool libdw_is_leaf(int tag);
/* False if the entry has no such attribute. */
bool libdw_number(Dwarf_Die *die, unsigned attribute, uint64_t *ret);

#endif
