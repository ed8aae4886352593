/*
 * Lists the units of a .debug_info section with their ranges and encodings.
 * Source: DWARF 5, 7.5.1 "Unit Headers".
 */
#ifndef PROF_DWARF_UNIT_H
#define PROF_DWARF_UNIT_H

#include "dwarf/form.h"
#include "dwarf/sections.h"

/* Offsets are in .debug_info. */
struct dwarf_unit {
	uint64_t offset;
	uint64_t first_die, end;
	uint64_t abbrevs; /* offset in .debug_abbrev */
	/*
	 * For skeleton and split units. 0 if there is none or it is in the root
	 * entry (DWARF 4).
	 */
	uint64_t dwo_id;
	struct dwarf_encoding encoding;
};

/*
 * A file's sections and its units, in ascending order. Type units are omitted,
 * because no code refers to them.
 */
struct dwarf_file {
	struct dwarf_sections sections;
	struct dwarf_unit *units;
	size_t unit_count, unit_room;
	bool has_unread; /* there are units with unsupported headers */
};

/*
 * Reads the headers up to the first malformed one. `file` must be
 * zero-initialized.
 */
void dwarf_file_init(struct dwarf_file *file, const struct dwarf_sections *sections);
void dwarf_file_deinit(struct dwarf_file *file);

/* Returns the unit that contains the offset, or NULL. */
const struct dwarf_unit *dwarf_file_unit_at(const struct dwarf_file *file, uint64_t offset);

/* Returns the unit's bytes from its first entry on. */
struct bytes dwarf_unit_contents(const struct dwarf_file *file, const struct dwarf_unit *unit);

/*
 * Reads the length of a unit or table, which also distinguishes 64-bit from
 * 32-bit DWARF. Source: 7.4.
 */
uint64_t dwarf_initial_length(struct bytes *at, uint8_t *offset_bytes);

#endif
