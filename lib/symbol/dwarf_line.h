/*
 * Line tables: from addresses of a unit to source lines, and from the numbers that stand for files
 * to paths. Source: DWARF 5, 6.2 "Line Number Information"; DWARF 2 to 4, the same chapter.
 */
#ifndef PROF_SYMBOL_DWARF_LINE_H
#define PROF_SYMBOL_DWARF_LINE_H

#include "base/arena.h"
#include "symbol/dwarf_parts.h"
#include "symbol/dwarf_view.h"

struct dwarf_lines;

/* The unit's line table; one without files and rows when it has none, its header is damaged or
 * larger than max_header_bytes. Borrows the view. */
struct dwarf_lines *dwarf_lines_new(const struct dwarf_view *view, uint64_t max_header_bytes);
void dwarf_lines_free(struct dwarf_lines *lines);

/* The whole path of a file, by its number in the unit; in the arena, made once each. NULL: there is
 * no such file. */
const char *dwarf_lines_path(struct dwarf_lines *lines, uint64_t file, struct arena *arena);

/* Header and program, as far as they are sound. */
struct bytes dwarf_lines_bytes(const struct dwarf_lines *lines);
uint64_t dwarf_lines_header_bytes(const struct dwarf_lines *lines);

struct dwarf_place {
	bool is_known;
	uint32_t line; /* 0: code that belongs to no line */
	uint64_t file;
};

/* vaddrs: ascending; ret: as many. Keeps no rows. Runs the program once, or of it the sequences
 * that `parts` says once they are made, which this does; NULL: nobody comes again. */
void dwarf_lines_find(const struct dwarf_lines *lines, struct dwarf_parts *parts,
		      const uint64_t *vaddrs, size_t count, struct dwarf_place *ret);

#endif
