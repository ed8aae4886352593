/*
 * Reads packages of split units (.dwp): finds the parts of their sections that
 * belong to a unit, from .debug_cu_index. Source: DWARF 5, 7.3.5 "DWARF Package
 * Files"; version 2, for DWARF 4: https://gcc.gnu.org/wiki/DebugFissionDWP.
 */
#ifndef PROF_DWARF_PACKAGE_H
#define PROF_DWARF_PACKAGE_H

#include "dwarf/sections.h"

#include <stdbool.h>

/* Returns true if the index has a supported header and at least one unit. */
bool dwarf_package_is_valid(struct bytes index);

/*
 * Reduces the package's sections to the parts of the unit with that id. Returns
 * false if the package does not contain the unit, or if a part is outside of
 * its section. Takes constant time for a valid index, and at most one step per
 * slot for any other.
 */
bool dwarf_package_find(struct bytes index, uint64_t dwo_id, struct dwarf_sections *sections);

#endif
