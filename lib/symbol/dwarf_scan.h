/*
 * One linear pass over a unit's entries, driven by its abbreviations: no tree is built, nothing is
 * visited twice, and DW_AT_sibling is not needed (LLVM writes none).
 */
#ifndef PROF_SYMBOL_DWARF_SCAN_H
#define PROF_SYMBOL_DWARF_SCAN_H

#include "symbol/dwarf_view.h"

struct dwarf_scan {
	const struct dwarf_view *view;
	const unsigned char *info; /* start of the section */
	struct bytes at;
	uint32_t depth;
	/* The least depth between the entry before and the present one: entries of that depth and
	 * deeper ones are behind us, and the present one is not in them. */
	uint32_t ended_depth;
	uint8_t wanted; /* roles; may be changed between two calls */
};

void dwarf_scan_init(struct dwarf_scan *scan, const struct dwarf_view *view, uint8_t wanted);

/* Goes on with the entry at an offset of .debug_info, which is then the outermost. */
void dwarf_scan_seek(struct dwarf_scan *scan, uint64_t offset);

/* The next entry that has one of the wanted roles; false at the end, or where the unit is damaged.
 */
bool dwarf_scan_next(struct dwarf_scan *scan, struct dwarf_die *ret);

#endif
