/*
 * A table of contents: which parts of a unit's entries, or of its line program, are about which
 * addresses. Made by who reads all of them, for who comes again and reads a few.
 */
#ifndef PROF_SYMBOL_DWARF_PARTS_H
#define PROF_SYMBOL_DWARF_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_part {
	uint64_t low, high; /* addresses */
	uint64_t offset;    /* where it begins */
};

/* In the order of their offsets; several may be of one offset, and overlap. */
struct dwarf_parts {
	struct dwarf_part *items;
	size_t count, room;
	bool are_made; /* all have been added */
};

void dwarf_parts_add(struct dwarf_parts *parts, uint64_t low, uint64_t high, uint64_t offset);
/* A zeroed one has nothing to free. */
void dwarf_parts_deinit(struct dwarf_parts *parts);

/* From *index on the next part with one of these addresses, ascending, that does not begin before
 * `offset`; *index is then behind it. NULL: there is none. */
const struct dwarf_part *dwarf_parts_next(const struct dwarf_parts *parts, size_t *index,
					  uint64_t offset, const uint64_t *vaddrs, size_t count);

#endif
