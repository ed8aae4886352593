#include "symbol/libdw_walk.h"

#include <dwarf.h>

bool libdw_next_sibling(Dwarf_Die *die, struct libdw_budget *budget)
{
	Dwarf_Off before = dwarf_dieoffset(die);

	if (!budget->entries)
		return false;
	budget->entries--;
	return dwarf_siblingof(die, die) == 0 && dwarf_dieoffset(die) > before;
}

bool libdw_next_range(struct libdw_ranges *ranges, struct libdw_budget *budget)
{
	while (budget->ranges && (ranges->at = dwarf_ranges(ranges->die, ranges->at, &ranges->base,
							    &ranges->low, &ranges->high)) > 0) {
		budget->ranges--;
		/* Other ranges were discarded by the linker. */
		if (ranges->low < ranges->high && ranges->low != 0 && ranges->low < (uint64_t)-2)
			return true;
	}
	return false;
}

bool libdw_has_code(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);
}

bool libdw_is_leaf(int tag)
{
	switch (tag) {
	case DW_TAG_array_type:
	case DW_TAG_subroutine_type:
	case DW_TAG_formal_parameter:
	case DW_TAG_variable:
	case DW_TAG_member:
	case DW_TAG_call_site:
	case DW_TAG_GNU_call_site:
	case DW_TAG_imported_unit:
		return true;
	default:
		return false;
	}
}

bool libdw_number(Dwarf_Die *die, unsigned attribute, uint64_t *ret)
{
	Dwarf_Attribute found;

	return dwarf_formudata(dwarf_attr(die, attribute, &found), ret) == 0;
}
