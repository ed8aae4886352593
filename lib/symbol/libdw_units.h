/* The units of a file, and which of them covers an address, as libdw reads them. */
#ifndef PROF_SYMBOL_LIBDW_UNITS_H
#define PROF_SYMBOL_LIBDW_UNITS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct libdw_unit {
	Dwarf_Off root; /* offset of its first entry */
	uint64_t bytes;
};

struct libdw_units {
	struct libdw_unit *items;
	uint32_t count, room;
	/* By start; where several cover an address, the last has it. Private. */
	struct libdw_unit_range *ranges;
	size_t range_count, range_room;
};

/* Reads the ranges of all units. range_bytes: of the sections that have them. */
void libdw_units_init(struct libdw_units *units, Dwarf *dwarf, uint64_t range_bytes);
void libdw_units_deinit(struct libdw_units *units);
/* The number of the unit that covers vaddr. False: none. */
bool libdw_units_find(const struct libdw_units *units, uint64_t vaddr, uint32_t *ret);

#endif
