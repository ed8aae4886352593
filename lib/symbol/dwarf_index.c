#include "symbol/dwarf_index.h"

#include "base/alloc.h"
#include "symbol/dwarf_ranges.h"
#include "symbol/dwarf_scan.h"

#include <stdlib.h>

static void add_range(struct dwarf_index *index, uint64_t low, uint64_t high, uint32_t unit)
{
	struct dwarf_range *last = index->count ? &index->ranges[index->count - 1] : NULL;

	if (last && last->unit == unit && last->high == low) {
		last->high = high;
		return;
	}
	GROW(index->ranges, index->count, index->room);
	index->ranges[index->count++] = (struct dwarf_range){low, high, unit};
}

/* What the walk over all units needs beside them. */
struct walk {
	const struct dwarf_file *file;
	struct dwarf_index found; /* in no order */
	uint64_t budget;

	/* The abbreviation of the last unit's root: units that share a table, as link-time
	 * optimization and dwz make them, share that, too. */
	struct dwarf_abbrevs root;
	const struct dwarf_unit *root_of;
};

static void add_ranges(struct walk *walk, const struct dwarf_view *view,
		       const struct dwarf_pcs *pcs)
{
	struct dwarf_ranges ranges = dwarf_ranges_of(view, pcs);
	uint32_t unit = (uint32_t)(view->unit - walk->file->units);
	uint64_t low, high;

	while (dwarf_ranges_next(&ranges, &walk->budget, &low, &high))
		add_range(&walk->found, low, high, unit);
}

static void add_function(struct walk *walk, const struct dwarf_view *view,
			 const struct dwarf_die *die)
{
	struct dwarf_attrs attrs = dwarf_attrs_of(view, die);
	struct dwarf_value value = {0};
	struct dwarf_pcs pcs = {0};

	while (dwarf_attrs_next(&attrs, &value))
		dwarf_pcs_take(&pcs, &value);
	add_ranges(walk, view, &pcs);
}

/*
 * Some producers write no ranges for a unit. Most units without have no code, and those are told
 * from the others by their abbreviations alone; the others are scanned for their functions now.
 */
static void add_functions(struct walk *walk, const struct dwarf_view *root)
{
	struct bytes table = dwarf_section_at(&root->file->sections, DWARF_ABBREV,
					      root->unit->abbrevs);
	struct dwarf_abbrevs abbrevs = {0};
	struct dwarf_view view = *root;
	struct dwarf_scan scan;
	struct dwarf_die die;

	dwarf_abbrevs_load(&abbrevs, table, root->unit->encoding);
	view.abbrevs = &abbrevs;
	if (abbrevs.roles & DWARF_FUNCTION) {
		dwarf_scan_init(&scan, &view, DWARF_FUNCTION);
		while (dwarf_scan_next(&scan, &die))
			add_function(walk, &view, &die);
	}
	dwarf_abbrevs_deinit(&abbrevs);
}

static bool same_abbrevs(const struct dwarf_unit *a, const struct dwarf_unit *b)
{
	return a->abbrevs == b->abbrevs && a->encoding.version == b->encoding.version &&
	       a->encoding.address_bytes == b->encoding.address_bytes &&
	       a->encoding.offset_bytes == b->encoding.offset_bytes;
}

static void load_root_abbrev(struct walk *walk, const struct dwarf_unit *unit)
{
	const struct dwarf_sections *sections = &walk->file->sections;
	struct bytes at = dwarf_section_at(sections, DWARF_INFO, unit->first_die);
	uint64_t code = bytes_uleb(&at);

	if (!walk->root_of || !same_abbrevs(walk->root_of, unit) ||
	    !dwarf_abbrevs_search(&walk->root, code))
		dwarf_abbrevs_load_one(&walk->root,
				       dwarf_section_at(sections, DWARF_ABBREV, unit->abbrevs),
				       unit->encoding, code);
	walk->root_of = unit;
}

static void walk_unit(struct walk *walk, const struct dwarf_unit *unit)
{
	struct dwarf_view view;

	load_root_abbrev(walk, unit);
	view = dwarf_view_of(walk->file, NULL, unit, &walk->root);
	if (view.root.is_skeleton)
		return;
	if (view.root.pcs.ranges.form || view.root.pcs.high.form)
		add_ranges(walk, &view, &view.root.pcs);
	else if (view.root.has_children)
		add_functions(walk, &view);
}

/* Of ranges that begin together the longer one comes first; of equal ones that of the later unit,
 * so that the first unit is the one that covers the other. */
static int compare_ranges(const void *left, const void *right)
{
	const struct dwarf_range *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->high != b->high)
		return a->high > b->high ? -1 : 1;
	return (a->unit < b->unit) - (a->unit > b->unit);
}

/*
 * Cuts ranges that overlap, so that the one that begins last has the address: what overlaps is
 * mostly code that the linker threw away, whose addresses begin at low ones.
 */
static void flatten(struct dwarf_index *from, struct dwarf_index *to)
{
	struct dwarf_range *open = from->ranges; /* a stack, in what has been read already */
	size_t open_count = 0;
	uint64_t at = 0;

	if (from->count)
		qsort(from->ranges, from->count, sizeof(*from->ranges), compare_ranges);
	for (size_t i = 0; i <= from->count; i++) {
		const bool is_end = i == from->count;
		const struct dwarf_range next = is_end ? (struct dwarf_range){UINT64_MAX, 0, 0}
						       : from->ranges[i];

		while (open_count && at < next.low) {
			const struct dwarf_range *top = &open[open_count - 1];
			uint64_t end = top->high < next.low ? top->high : next.low;

			if (at < end) {
				add_range(to, at, end, top->unit);
				at = end;
			}
			if (top->high <= at)
				open_count--;
		}
		at = next.low;
		if (!is_end)
			open[open_count++] = next;
	}
}

void dwarf_index_init(struct dwarf_index *index, const struct dwarf_file *file)
{
	struct walk walk = {.file = file, .budget = dwarf_ranges_budget(file)};

	for (size_t i = 0; i < file->unit_count; i++)
		walk_unit(&walk, &file->units[i]);
	flatten(&walk.found, index);
	dwarf_abbrevs_deinit(&walk.root);
	dwarf_index_deinit(&walk.found);
}

void dwarf_index_deinit(struct dwarf_index *index)
{
	free(index->ranges);
}

uint32_t dwarf_index_find(const struct dwarf_index *index, uint64_t vaddr)
{
	size_t low = 0, high = index->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct dwarf_range *range = &index->ranges[middle];

		if (vaddr < range->low)
			high = middle;
		else if (vaddr >= range->high)
			low = middle + 1;
		else
			return range->unit;
	}
	return UINT32_MAX;
}
