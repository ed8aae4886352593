/*
 * The units of a .debug_info section: where each begins and ends and how it is encoded. Source:
 * DWARF 5, 7.5.1 "Unit Headers".
 */
#ifndef PROF_SYMBOL_DWARF_UNIT_H
#define PROF_SYMBOL_DWARF_UNIT_H

#include "symbol/dwarf_form.h"
#include "symbol/dwarf_sections.h"

/* Offsets are in .debug_info. */
struct dwarf_unit {
	uint64_t offset;
	uint64_t first_die, end;
	uint64_t abbrevs; /* offset in .debug_abbrev */
	struct dwarf_encoding encoding;
};

/* A file's sections with its units, ascending. Type units are left out: no code refers to them. */
struct dwarf_file {
	struct dwarf_sections sections;
	struct dwarf_unit *units;
	size_t unit_count, unit_room;
};

/* Walks the headers, as far as they are sound. A zeroed file is an empty one. */
void dwarf_file_init(struct dwarf_file *file, const struct dwarf_sections *sections);
void dwarf_file_deinit(struct dwarf_file *file);

/* The unit with an entry at that offset, or NULL. */
const struct dwarf_unit *dwarf_file_unit_at(const struct dwarf_file *file, uint64_t offset);

/* From its first entry on. */
struct bytes dwarf_unit_contents(const struct dwarf_file *file, const struct dwarf_unit *unit);

/* A unit's or a table's length, which also says whether it is 64-bit DWARF. Source: 7.4. */
uint64_t dwarf_initial_length(struct bytes *at, uint8_t *offset_bytes);

#endif
