#include "dwarf/index.h"

#include "base/alloc.h"
#include "dwarf/ranges.h"
#include "dwarf/scan.h"

#include <dwarf.h>
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

/*
 * More combinations of compiler and options than most programs are built with.
 */
enum { PRODUCERS_MAX = 16 };

/* A unit with entries but without ranges that cover all of them. */
struct rangeless {
	const struct dwarf_unit *unit;
	struct bytes producer; /* `at` is NULL if unknown */
};

/* The state of the walk over all units. */
struct walk {
	const struct dwarf_file *file;
	struct dwarf_index found; /* unsorted */
	uint64_t budget;	  /* remaining range list entries */

	/* compilers that write the ranges of units */
	struct bytes producers[PRODUCERS_MAX];
	unsigned producer_count;
	struct rangeless *rangeless;
	size_t rangeless_count, rangeless_room;

	/*
	 * Abbreviations of the last unit, either only the root's or all.
	 * Consecutive units share a table if they come from link-time
	 * optimization or dwz.
	 */
	struct dwarf_abbrevs abbrevs;
	const struct dwarf_unit *abbrevs_of;
	bool has_all_abbrevs;
	uint64_t abbrev_budget;
};

/*
 * Limits the bytes of abbreviations read. A table is read again if units that
 * share it are not consecutive, or if only the root's abbreviation was read
 * before. The limit stops malformed files in which many units refer to the end
 * of one large table.
 */
static uint64_t index_abbrev_budget(const struct dwarf_file *file)
{
	return 64 * (uint64_t)bytes_left(&file->sections.of[DWARF_ABBREV]) + (1 << 24);
}

static bool has_abbrevs_of(const struct walk *walk, const struct dwarf_unit *unit)
{
	const struct dwarf_unit *other = walk->abbrevs_of;

	return other && other->abbrevs == unit->abbrevs &&
	       other->encoding.version == unit->encoding.version &&
	       other->encoding.address_bytes == unit->encoding.address_bytes &&
	       other->encoding.offset_bytes == unit->encoding.offset_bytes;
}

static struct bytes abbrev_table(const struct walk *walk, const struct dwarf_unit *unit)
{
	struct bytes table = dwarf_section_at(&walk->file->sections, DWARF_ABBREV, unit->abbrevs);

	if (bytes_left(&table) > walk->abbrev_budget)
		table.end = table.at + walk->abbrev_budget;
	return table;
}

static void load_root_abbrev(struct walk *walk, const struct dwarf_unit *unit)
{
	struct bytes at = dwarf_section_at(&walk->file->sections, DWARF_INFO, unit->first_die);
	uint64_t code = bytes_uleb(&at);

	if (has_abbrevs_of(walk, unit) && dwarf_abbrevs_search(&walk->abbrevs, code))
		return;
	walk->abbrev_budget -= dwarf_abbrevs_load_one(&walk->abbrevs, abbrev_table(walk, unit),
						      unit->encoding, code);
	walk->abbrevs_of = unit;
	walk->has_all_abbrevs = false;
}

static void load_all_abbrevs(struct walk *walk, const struct dwarf_unit *unit)
{
	if (has_abbrevs_of(walk, unit) && walk->has_all_abbrevs)
		return;
	walk->abbrev_budget -= dwarf_abbrevs_load(&walk->abbrevs, abbrev_table(walk, unit),
						  unit->encoding);
	walk->abbrevs_of = unit;
	walk->has_all_abbrevs = true;
}

static void index_add_ranges(struct walk *walk, const struct dwarf_view *view,
			     const struct dwarf_pcs *pcs)
{
	struct dwarf_ranges ranges = dwarf_ranges_of(view, pcs);
	uint32_t unit = (uint32_t)(view->unit - walk->file->units);
	uint64_t low, high;

	while (dwarf_ranges_next(&ranges, &walk->budget, &low, &high))
		add_range(&walk->found, low, high, unit);
}

static void index_add_function(struct walk *walk, const struct dwarf_view *view,
			       const struct dwarf_die *die)
{
	struct dwarf_attrs attrs = dwarf_attrs_of(view, die);
	struct dwarf_value value = {0};
	struct dwarf_pcs pcs = {0};

	while (dwarf_attrs_next(&attrs, &value))
		dwarf_pcs_take(&pcs, &value);
	index_add_ranges(walk, view, &pcs);
}

static bool index_is_same_text(struct bytes a, struct bytes b)
{
	return bytes_left(&a) == bytes_left(&b) && memcmp(a.at, b.at, bytes_left(&a)) == 0;
}

static bool names_ranges(const struct walk *walk, struct bytes producer)
{
	for (unsigned i = 0; producer.at && i < walk->producer_count; i++)
		if (index_is_same_text(walk->producers[i], producer))
			return true;
	return false;
}

static void note_producer(struct walk *walk, struct bytes producer)
{
	if (producer.at && walk->producer_count < PRODUCERS_MAX && !names_ranges(walk, producer))
		walk->producers[walk->producer_count++] = producer;
}

/*
 * Returns false for DWARF 2, which has only one range per unit. Compilers set
 * it to that of .text.
 */
static bool may_name_all(const struct dwarf_unit *unit)
{
	return unit->encoding.version > 2;
}

static void walk_unit(struct walk *walk, const struct dwarf_unit *unit)
{
	struct dwarf_view view;
	struct bytes producer;
	bool has_ranges;

	load_root_abbrev(walk, unit);
	view = dwarf_view_of(walk->file, NULL, unit, &walk->abbrevs);
	walk->found.has_unread |= view.root.is_unread;
	if (view.root.is_skeleton) {
		walk->found.skeletons++;
		index_add_ranges(walk, &view, &view.root.pcs);
		return;
	}
	if (view.root.tag != DW_TAG_compile_unit)
		return;
	producer = dwarf_string(&view, &view.root.producer);
	has_ranges = view.root.pcs.ranges.form || view.root.pcs.high.form;
	if (has_ranges) {
		note_producer(walk, producer);
		index_add_ranges(walk, &view, &view.root.pcs);
	}
	if (view.root.has_children && (!has_ranges || !may_name_all(unit))) {
		GROW(walk->rangeless, walk->rangeless_count, walk->rangeless_room);
		walk->rangeless[walk->rangeless_count++] = (struct rangeless){unit, producer};
	}
}

static void scan_for_functions(struct walk *walk, const struct dwarf_unit *unit)
{
	struct dwarf_view view;
	struct dwarf_scan scan;
	struct dwarf_die die;

	load_all_abbrevs(walk, unit);
	if (!(walk->abbrevs.roles & DWARF_FUNCTION))
		return;
	view = dwarf_view_of(walk->file, NULL, unit, &walk->abbrevs);
	dwarf_scan_init(&scan, &view, DWARF_FUNCTION);
	while (dwarf_scan_next(&scan, &die))
		index_add_function(walk, &view, &die);
	walk->found.has_unread |= scan.is_damaged;
}

/*
 * Finds the ranges of units that have none, because some producers do not write
 * them. If the producer has written ranges of other units, a unit without
 * ranges has no code; link-time optimization leaves thousands of these.
 * Abbreviations exclude most other units. The rest is scanned for functions.
 */
static void walk_rangeless(struct walk *walk)
{
	for (size_t i = 0; i < walk->rangeless_count; i++) {
		const struct rangeless *item = &walk->rangeless[i];

		if (!may_name_all(item->unit) || !names_ranges(walk, item->producer))
			scan_for_functions(walk, item->unit);
	}
	free(walk->rangeless);
}

/*
 * Sorts by start, then longer ranges first, then later units first, so that the
 * first unit overrides the others.
 */
static int index_compare_ranges(const void *left, const void *right)
{
	const struct dwarf_range *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->high != b->high)
		return a->high > b->high ? -1 : 1;
	return (a->unit < b->unit) - (a->unit > b->unit);
}

/*
 * Cuts overlapping ranges so that an address belongs to the range that starts
 * last. Overlapping ranges are mostly code discarded by the linker, whose
 * addresses start near 0.
 */
static void flatten(struct dwarf_index *from, struct dwarf_index *to)
{
	struct dwarf_range *open =
		from->ranges; /* a stack in the already processed part of the array */
	size_t open_count = 0;
	uint64_t at = 0;

	if (from->count)
		qsort(from->ranges, from->count, sizeof(*from->ranges), index_compare_ranges);
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
	struct walk walk = {
		.file = file,
		.budget = dwarf_ranges_budget(file),
		.abbrev_budget = index_abbrev_budget(file),
	};

	for (size_t i = 0; i < file->unit_count; i++)
		walk_unit(&walk, &file->units[i]);
	walk_rangeless(&walk);
	flatten(&walk.found, index);
	index->skeletons = walk.found.skeletons;
	index->has_unread = walk.found.has_unread || file->has_unread;
	dwarf_abbrevs_deinit(&walk.abbrevs);
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
