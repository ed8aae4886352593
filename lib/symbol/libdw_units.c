#include "symbol/libdw_units.h"

#include "symbol/libdw_walk.h"

#include "base/alloc.h"
#include "base/search.h"

#include <dwarf.h>
#include <stdlib.h>

struct libdw_unit_range {
	uint64_t low, high;
	uint64_t reach; /* highest end of this and all previous ranges */
	uint32_t unit;
};

static bool libdw_units_add_ranges(struct libdw_units *units, Dwarf_Die *die,
				   struct libdw_budget *budget, uint32_t unit)
{
	struct libdw_ranges ranges = {.die = die};
	bool any = false;

	while (libdw_next_range(&ranges, budget)) {
		GROW(units->ranges, units->range_count, units->range_room);
		units->ranges[units->range_count++] = (struct libdw_unit_range){
			.low = ranges.low, .high = ranges.high, .unit = unit};
		any = true;
	}
	return any;
}

/* Adds the ranges of the functions of a unit without ranges. */
static void libdw_units_add_functions(struct libdw_units *units, Dwarf_Die *die,
				      struct libdw_budget *budget, uint32_t unit, unsigned depth)
{
	Dwarf_Die child;

	if (depth == LIBDW_DEPTH_MAX || dwarf_child(die, &child) != 0)
		return;
	do {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_subprogram)
			libdw_units_add_ranges(units, &child, budget, unit);
		if (!libdw_is_leaf(tag))
			libdw_units_add_functions(units, &child, budget, unit, depth + 1);
	} while (libdw_next_sibling(&child, budget));
}

/*
 * Adds the ranges of a unit. DWARF 2 has one range per unit, and compilers set
 * it to that of .text.
 */
static void add_unit(struct libdw_units *units, Dwarf_Die *root, Dwarf_Off end, Dwarf_Half version,
		     uint64_t range_bytes)
{
	uint32_t unit = units->count;
	uint64_t bytes = end - dwarf_dieoffset(root);
	struct libdw_budget budget = {.entries = bytes, .ranges = bytes + range_bytes};

	if (dwarf_tag(root) != DW_TAG_compile_unit)
		return;
	GROW(units->items, units->count, units->room);
	units->items[units->count++] = (struct libdw_unit){.root = dwarf_dieoffset(root),
							   .bytes = bytes};
	if (!libdw_units_add_ranges(units, root, &budget, unit) || version == 2)
		libdw_units_add_functions(units, root, &budget, unit, 0);
}

static void add_units(struct libdw_units *units, Dwarf *dwarf, uint64_t range_bytes)
{
	Dwarf_Off at = 0, next;
	size_t header_bytes;
	Dwarf_Half version;

	while (dwarf_next_unit(dwarf, at, &next, &header_bytes, &version, NULL, NULL, NULL, NULL,
			       NULL) == 0 &&
	       next > at) {
		Dwarf_Die root;

		if (dwarf_offdie(dwarf, at + header_bytes, &root))
			add_unit(units, &root, next, version, range_bytes);
		at = next;
	}
}

/*
 * Compares like dwarf/index.c: the range that starts last takes precedence;
 * among equal ones, the shorter range, then the first unit.
 */
static int libdw_units_compare_ranges(const void *left, const void *right)
{
	const struct libdw_unit_range *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->high != b->high)
		return a->high > b->high ? -1 : 1;
	return (a->unit < b->unit) - (a->unit > b->unit);
}

void libdw_units_init(struct libdw_units *units, Dwarf *dwarf, uint64_t range_bytes)
{
	uint64_t reach = 0;

	*units = (struct libdw_units){0};
	if (dwarf)
		add_units(units, dwarf, range_bytes);
	if (units->range_count)
		qsort(units->ranges, units->range_count, sizeof(*units->ranges),
		      libdw_units_compare_ranges);
	for (size_t i = 0; i < units->range_count; i++) {
		if (units->ranges[i].high > reach)
			reach = units->ranges[i].high;
		units->ranges[i].reach = reach;
	}
}

void libdw_units_deinit(struct libdw_units *units)
{
	free(units->items);
	free(units->ranges);
}

bool libdw_units_find(const struct libdw_units *units, uint64_t vaddr, uint32_t *ret)
{
	size_t i = SEARCH_AFTER(units->ranges, units->range_count, low, vaddr);

	for (; i && units->ranges[i - 1].reach > vaddr; i--)
		if (units->ranges[i - 1].high > vaddr) {
			*ret = units->ranges[i - 1].unit;
			return true;
		}
	return false;
}
