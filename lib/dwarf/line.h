/*
 * Line tables: addresses of a unit → source lines, and file numbers → paths. Source: DWARF 5, 6.2
 * "Line Number Information"; the same chapter of DWARF 2 to 4.
 */
#ifndef PROF_DWARF_LINE_H
#define PROF_DWARF_LINE_H

#include "base/arena.h"
#include "dwarf/range_index.h"
#include "dwarf/view.h"

struct dwarf_lines;

/*
 * The unit's line table; empty if the unit has none, or if its header is damaged or larger than
 * max_header_bytes. Borrows the view.
 */
struct dwarf_lines *dwarf_lines_new(const struct dwarf_view *view, uint64_t max_header_bytes);
/* True if there is a line program that is not understood. */
bool dwarf_lines_are_unread(const struct dwarf_lines *lines);
void dwarf_lines_free(struct dwarf_lines *lines);

/*
 * The full path of a file by its number in the unit, built once in the arena; NULL if there is no
 * such file.
 */
const char *dwarf_lines_path(struct dwarf_lines *lines, uint64_t file, struct arena *arena);

/* The valid part of header and program. */
struct bytes dwarf_lines_bytes(const struct dwarf_lines *lines);
uint64_t dwarf_lines_header_bytes(const struct dwarf_lines *lines);

struct dwarf_place {
	bool is_known;
	uint32_t line; /* 0: belongs to no line */
	uint64_t file;
};

/*
 * vaddrs: ascending. Keeps no rows. Runs the program once and fills `index`; later calls run only
 * the sequences that `index` lists. index: NULL if the table is not read again.
 *
 * It is divided as a search for scopes is (dwarf/chain.h).
 */
struct dwarf_line_finder *dwarf_line_finder_new(const struct dwarf_lines *lines,
						struct dwarf_range_index *index,
						const uint64_t *vaddrs, size_t count,
						uint64_t part_bytes);
size_t dwarf_line_finder_parts(const struct dwarf_line_finder *finder);
void dwarf_line_finder_run(struct dwarf_line_finder *finder, size_t part);
/* Frees the finder. ret: one place per address. */
void dwarf_line_finder_finish(struct dwarf_line_finder *finder, struct dwarf_place *ret);

/* Calls row() for each row of the table: the place of the code from vaddr to the next row. */
void dwarf_lines_each(const struct dwarf_lines *lines,
		      void (*row)(void *user, uint64_t vaddr, const struct dwarf_place *place),
		      void *user);

#endif
