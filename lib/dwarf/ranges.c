#include "dwarf/ranges.h"

#include <dwarf.h>

static void init_list(struct dwarf_ranges *ranges, uint64_t offset)
{
	const struct dwarf_view *view = ranges->view;
	bool is_dwarf5 = view->unit->encoding.version >= 5;

	ranges->kind = is_dwarf5 ? DWARF_RANGES_LIST : DWARF_RANGES_PAIRS;
	ranges->at = dwarf_section_at(&view->file->sections,
				      is_dwarf5 ? DWARF_RNGLISTS : DWARF_RANGES, offset);
	/*
	 * Offsets are relative to the unit's address until the list sets a
	 * base.
	 */
	if (!dwarf_address(view, &view->root.pcs.low, &ranges->base))
		ranges->base = 0;
}

/*
 * DW_FORM_rnglistx is an index into the table of offsets at the unit's base.
 * The offsets are relative to that base.
 */
static void init_indexed_list(struct dwarf_ranges *ranges, uint64_t index)
{
	const struct dwarf_view *view = ranges->view;
	unsigned offset_bytes = view->unit->encoding.offset_bytes;
	uint64_t base = view->root.ranges_base;
	struct bytes at = dwarf_section_at(&view->file->sections, DWARF_RNGLISTS, base);
	uint64_t offset;

	if (index > bytes_left(&at) / offset_bytes)
		return;
	bytes_skip(&at, index * offset_bytes);
	offset = bytes_uint(&at, offset_bytes);
	if (bytes_ok(&at))
		init_list(ranges, base + offset);
}

struct dwarf_ranges dwarf_ranges_of(const struct dwarf_view *view, const struct dwarf_pcs *pcs)
{
	struct dwarf_ranges ranges = {.view = view};

	if (pcs->ranges.form == DW_FORM_rnglistx) {
		init_indexed_list(&ranges, pcs->ranges.number);
	} else if (pcs->ranges.form) {
		init_list(&ranges, pcs->ranges.number + view->root.pairs_base);
	} else if (pcs->high.form && dwarf_address(view, &pcs->low, &ranges.low)) {
		/* The end is an address or, if it is a constant, a length. */
		if (!dwarf_address(view, &pcs->high, &ranges.high))
			ranges.high = ranges.low + pcs->high.number;
		ranges.kind = DWARF_RANGES_ONE;
	}
	return ranges;
}

/*
 * Applies the base to offsets. A base that marks discarded code makes the range
 * empty.
 */
static void add_base(const struct dwarf_ranges *ranges, uint64_t *low, uint64_t *high)
{
	bool is_gone = ranges->base && dwarf_is_tombstone(ranges->base);

	*low = is_gone ? 0 : ranges->base + *low;
	*high = is_gone ? 0 : ranges->base + *high;
}

static uint64_t all_ones(unsigned address_bytes)
{
	return address_bytes == 8 ? UINT64_MAX : UINT32_MAX;
}

/* Reads an entry of .debug_ranges. Returns false at the end of the list. */
static bool ranges_next_pair(struct dwarf_ranges *ranges, uint64_t *low, uint64_t *high)
{
	unsigned address_bytes = ranges->view->unit->encoding.address_bytes;

	*low = bytes_uint(&ranges->at, address_bytes);
	*high = bytes_uint(&ranges->at, address_bytes);
	if (!bytes_ok(&ranges->at) || (*low == 0 && *high == 0))
		return false;
	if (*low == all_ones(address_bytes)) {
		ranges->base = *high;
		*high = *low; /* empty */
	} else {
		add_base(ranges, low, high);
	}
	return true;
}

static uint64_t read_address(struct dwarf_ranges *ranges)
{
	return bytes_uint(&ranges->at, ranges->view->unit->encoding.address_bytes);
}

static uint64_t read_indexed_address(struct dwarf_ranges *ranges)
{
	const struct dwarf_value value = {
		.form = DW_FORM_addrx,
		.number = bytes_uleb(&ranges->at),
	};
	uint64_t address = 0;

	if (!dwarf_address(ranges->view, &value, &address))
		bytes_fail(&ranges->at);
	return address;
}

/* Reads an entry of .debug_rnglists. Returns false at the end of the list. */
static bool next_entry(struct dwarf_ranges *ranges, uint64_t *low, uint64_t *high)
{
	struct bytes *at = &ranges->at;

	*low = *high = 0;
	switch (bytes_u8(at)) {
	case DW_RLE_base_addressx:
		ranges->base = read_indexed_address(ranges);
		break;
	case DW_RLE_base_address:
		ranges->base = read_address(ranges);
		break;
	case DW_RLE_startx_endx:
		*low = read_indexed_address(ranges);
		*high = read_indexed_address(ranges);
		break;
	case DW_RLE_startx_length:
		*low = read_indexed_address(ranges);
		*high = *low + bytes_uleb(at);
		break;
	case DW_RLE_offset_pair:
		*low = bytes_uleb(at);
		*high = bytes_uleb(at);
		add_base(ranges, low, high);
		break;
	case DW_RLE_start_end:
		*low = read_address(ranges);
		*high = read_address(ranges);
		break;
	case DW_RLE_start_length:
		*low = read_address(ranges);
		*high = *low + bytes_uleb(at);
		break;
	default: /* DW_RLE_end_of_list */
		return false;
	}
	return bytes_ok(at);
}

static bool next_any(struct dwarf_ranges *ranges, uint64_t *low, uint64_t *high)
{
	switch (ranges->kind) {
	case DWARF_RANGES_ONE:
		*low = ranges->low;
		*high = ranges->high;
		ranges->kind = DWARF_RANGES_NONE;
		return true;
	case DWARF_RANGES_PAIRS:
		return ranges_next_pair(ranges, low, high);
	case DWARF_RANGES_LIST:
		return next_entry(ranges, low, high);
	default:
		return false;
	}
}

bool dwarf_ranges_next(struct dwarf_ranges *ranges, uint64_t *budget, uint64_t *low, uint64_t *high)
{
	while (*budget && next_any(ranges, low, high)) {
		--*budget;
		if (*low < *high && !dwarf_is_tombstone(*low))
			return true;
	}
	return false;
}

uint64_t dwarf_ranges_budget(const struct dwarf_file *file)
{
	const struct bytes *of = file->sections.of;

	/* The smallest entry has two bytes. */
	return (bytes_left(&of[DWARF_INFO]) + bytes_left(&of[DWARF_RANGES]) +
		bytes_left(&of[DWARF_RNGLISTS])) /
	       2;
}
