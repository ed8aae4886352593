/*
 * Divides a unit's entries or its line program into parts that several threads
 * read at the same time.
 *
 * The start of a part is a guess. A part is used if the previous one ends at
 * its start. Otherwise the previous part has also read the contents of this
 * one.
 */
#ifndef PROF_DWARF_PARTS_H
#define PROF_DWARF_PARTS_H

#include "dwarf/range_index.h"

struct dwarf_part {
	uint64_t first; /* offset */
	/*
	 * The start of a later part where reading stopped, or UINT64_MAX if the
	 * data was read to its end.
	 */
	uint64_t end;
	struct dwarf_range_index making;
};

/* Bounds the memory, because each part needs memory for all addresses. */
enum { DWARF_PARTS_MAX = 32 };

struct dwarf_parts {
	struct dwarf_part items[DWARF_PARTS_MAX]; /* ascending */
	size_t count;
};

/*
 * Divides the bytes from `first` on into at most `most` parts of part_bytes
 * each. guess() returns the first possible start of a part after an offset, or
 * UINT64_MAX.
 */
void dwarf_parts_divide(struct dwarf_parts *parts, uint64_t first, uint64_t bytes,
			uint64_t part_bytes, size_t most,
			uint64_t (*guess)(const void *user, uint64_t offset), const void *user);

/*
 * Returns true if a part starts at the offset. Advances *next past the parts
 * before the offset.
 */
bool dwarf_parts_begin(const struct dwarf_parts *parts, size_t *next, uint64_t offset);

/*
 * Call for each part in order. *end is initially the start of the first part
 * and must be passed unchanged from call to call. Returns true if the part is
 * used. In that case its ranges are added to the index, which may be NULL.
 */
bool dwarf_parts_join(struct dwarf_part *part, uint64_t *end, struct dwarf_range_index *index);

#endif
