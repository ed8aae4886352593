/*
 * Packages of split units (.dwp): which parts of their sections belong to a unit, from
 * .debug_cu_index. Source: DWARF 5, 7.3.5 "DWARF Package Files"; version 2, of DWARF 4:
 * https://gcc.gnu.org/wiki/DebugFissionDWP.
 */
#ifndef PROF_DWARF_PACKAGE_H
#define PROF_DWARF_PACKAGE_H

#include "dwarf/sections.h"

#include <stdbool.h>

/* Whether the index has a header that can be read, and a unit. */
bool dwarf_package_is_valid(struct bytes index);

/*
 * Cuts the package's sections to the parts of the unit with that id. False if the package does not
 * have the unit, or if a part is outside of its section. Takes constant time for a valid index,
 * and never more than one step for each slot.
 */
bool dwarf_package_find(struct bytes index, uint64_t dwo_id, struct dwarf_sections *sections);

#endif
