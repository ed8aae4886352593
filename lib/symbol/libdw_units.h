/*
 * Lists the units of a file with libdw, and finds the unit that covers an
 * address.
 */
#ifndef PROF_SYMBOL_LIBDW_UNITS_H
#define PROF_SYMBOL_LIBDW_UNITS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct libdw_unit {
	Dwarf_Off root; /* offset of its first DIE */
	uint64_t bytes;
};

struct libdw_units {
	struct libdw_unit *items;
	uint32_t count, room;
	/*
	 * Sorted by start. If several ranges cover an address, the last one is
	 * used. Private.
	 */
	struct libdw_unit_range *ranges;
	size_t range_count, range_room;
};

/*
 * Reads the ranges of all units. range_bytes is the size of the sections that
 * contain them.
 */
void libdw_units_init(struct libdw_units *units, Dwarf *dwarf, uint64_t range_bytes);
void libdw_units_deinit(struct libdw_units *units);
/* Finds the unit that covers vaddr. Returns false if there is none. */
bool libdw_units_find(const struct libdw_units *units, uint64_t vaddr, uint32_t *ret);

#endif
