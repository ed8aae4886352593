/*
 * Reads line tables: maps addresses of a unit to source lines, and file numbers
 * to paths. Source: DWARF 5, 6.2 "Line Number Information"; the same chapter of
 * DWARF 2 to 4.
 */
#ifndef PROF_DWARF_LINE_H
#define PROF_DWARF_LINE_H

#include "base/arena.h"
#include "dwarf/range_index.h"
#include "dwarf/view.h"

struct dwarf_lines;

/*
 * Opens the unit's line table. It is empty if the unit has none, or if its
 * header is malformed or larger than max_header_bytes. Borrows the view.
 */
struct dwarf_lines *dwarf_lines_new(const struct dwarf_view *view, uint64_t max_header_bytes);
/* Returns true if there is a line program that is not supported. */
bool dwarf_lines_are_unread(const struct dwarf_lines *lines);
void dwarf_lines_free(struct dwarf_lines *lines);

/*
 * Returns the full path of a file by its number in the unit, or NULL if there
 * is no such file. Each path is built once, in the arena.
 */
const char *dwarf_lines_path(struct dwarf_lines *lines, uint64_t file, struct arena *arena);

/* Returns the valid part of header and program. */
struct bytes dwarf_lines_bytes(const struct dwarf_lines *lines);
uint64_t dwarf_lines_header_bytes(const struct dwarf_lines *lines);

struct dwarf_place {
	bool is_known;
	uint32_t line; /* 0 if the code belongs to no line */
	uint64_t file;
};

/*
 * Finds the lines of addresses, which must be ascending. Rows are not kept. The
 * first search runs the whole program and fills `index`; later ones run only
 * the sequences that `index` lists. `index` is NULL if the table will not be
 * read again.
 *
 * The search has parts like the search for scopes (dwarf/chain.h).
 */
struct dwarf_line_finder *dwarf_line_finder_new(const struct dwarf_lines *lines,
						struct dwarf_range_index *index,
						const uint64_t *vaddrs, size_t count,
						uint64_t part_bytes);
size_t dwarf_line_finder_parts(const struct dwarf_line_finder *finder);
void dwarf_line_finder_run(struct dwarf_line_finder *finder, size_t part);
/* Stores one place per address in `ret` and frees the finder. */
void dwarf_line_finder_finish(struct dwarf_line_finder *finder, struct dwarf_place *ret);

/*
 * Calls row() for each row of the table, with the place of the code from vaddr
 * to the next row.
 */
void dwarf_lines_each(const struct dwarf_lines *lines,
		      void (*row)(void *user, uint64_t vaddr, const struct dwarf_place *place),
		      void *user);

#endif
