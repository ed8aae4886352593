/*
 * Scans a unit's entries linearly, by their abbreviations. A scan builds no
 * tree, visits nothing twice and does not need DW_AT_sibling, which LLVM does
 * not write.
 */
#ifndef PROF_DWARF_SCAN_H
#define PROF_DWARF_SCAN_H

#include "dwarf/view.h"

struct dwarf_scan {
	const struct dwarf_view *view;
	const unsigned char *info; /* start of the section */
	struct bytes at;
	uint32_t depth;
	/*
	 * The smallest depth since the previous entry. Scopes at this depth or
	 * deeper have ended.
	 */
	uint32_t ended_depth;
	uint8_t wanted;	 /* roles to return; may be changed between two calls */
	bool is_damaged; /* ended early, at an entry that is not supported */
};

void dwarf_scan_init(struct dwarf_scan *scan, const struct dwarf_view *view, uint8_t wanted);

/*
 * Continues with the entry at an offset of .debug_info, which becomes the
 * outermost one.
 */
void dwarf_scan_seek(struct dwarf_scan *scan, uint64_t offset);

/*
 * Returns the next entry with one of the wanted roles. Returns false at the end
 * or if the unit is malformed.
 */
bool dwarf_scan_next(struct dwarf_scan *scan, struct dwarf_die *ret);

#endif
