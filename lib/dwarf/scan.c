#include "dwarf/scan.h"

void dwarf_scan_init(struct dwarf_scan *scan, const struct dwarf_view *view, uint8_t wanted)
{
	*scan = (struct dwarf_scan){
		.view = view,
		.info = view->file->sections.of[DWARF_INFO].at,
		.at = dwarf_unit_contents(view->file, view->unit),
		.wanted = wanted,
	};
}

void dwarf_scan_seek(struct dwarf_scan *scan, uint64_t offset)
{
	const struct dwarf_unit *unit = scan->view->unit;

	scan->at = dwarf_unit_contents(scan->view->file, unit);
	bytes_skip(&scan->at, offset - unit->first_die);
	/* Unknown; entries after this one can have a smaller depth. */
	scan->depth = UINT32_MAX / 2;
}

bool dwarf_scan_next(struct dwarf_scan *scan, struct dwarf_die *ret)
{
	const struct dwarf_abbrevs *abbrevs = scan->view->abbrevs;
	const uint8_t wanted = scan->wanted;
	uint32_t depth = scan->depth, least = depth;
	struct bytes at = scan->at;
	bool is_damaged = false;

	while (bytes_left(&at)) {
		const unsigned char *start = at.at;
		uint64_t code = bytes_uleb(&at);
		const struct dwarf_abbrev *abbrev;
		struct bytes attributes;

		if (code == 0) { /* the end of the children, or padding after the root */
			depth -= depth > 0;
			least = depth < least ? depth : least;
			continue;
		}
		abbrev = dwarf_abbrevs_get(abbrevs, code);
		if (!abbrev) {
			is_damaged = true;
			break;
		}
		attributes = at;
		dwarf_abbrev_skip(abbrevs, abbrev, &at);
		if (!bytes_ok(&at)) {
			is_damaged = true;
			break;
		}
		depth += abbrev->has_children;
		if (abbrev->roles & wanted) {
			*ret = (struct dwarf_die){
				.offset = (uint64_t)(start - scan->info),
				.depth = depth - abbrev->has_children,
				.abbrev = abbrev,
				.attributes = attributes,
			};
			scan->at = at;
			scan->depth = depth;
			scan->ended_depth = least;
			return true;
		}
	}
	scan->is_damaged |= is_damaged;
	scan->at.at = scan->at.end;
	return false;
}
