/*
 * Abbreviation tables: what each kind of entry of .debug_info looks like, prepared so that entries
 * of no interest are passed over in a few instructions. Source: DWARF 5, 7.5.3 "Abbreviations
 * Tables".
 */
#ifndef PROF_SYMBOL_DWARF_ABBREV_H
#define PROF_SYMBOL_DWARF_ABBREV_H

#include "symbol/dwarf_form.h"

/* What an entry may be to us. */
enum dwarf_role {
	DWARF_FUNCTION = 1, /* DW_TAG_subprogram that has code */
	DWARF_INLINED = 2,  /* DW_TAG_inlined_subroutine that has code */
	DWARF_SCOPE = 4,    /* its name is part of its children's names; all functions are */
};

struct dwarf_attr {
	uint16_t name, form;
	int64_t implicit; /* the value of DW_FORM_implicit_const */
};

/* Pass over `bytes`, then over one value of that layout. */
struct dwarf_skip {
	uint16_t bytes;
	uint8_t layout;
	bool is_last;
};

struct dwarf_abbrev {
	uint64_t code;
	uint32_t first_attr, attr_count;
	uint32_t first_skip;
	uint16_t tag;
	uint8_t roles;
	bool has_children;
};

struct dwarf_abbrevs {
	struct dwarf_encoding encoding;
	struct dwarf_abbrev *entries; /* by code */
	size_t count, room;
	struct dwarf_attr *attrs;
	size_t attr_count, attr_room;
	struct dwarf_skip *skips;
	size_t skip_count, skip_room;
	bool is_dense; /* entry N has code N + 1, as nearly all producers number them */
	uint8_t roles; /* of all entries together */
};

/* A zeroed table is an empty one. table: from its first byte on. What is damaged ends it. Returns
 * how many bytes were read. */
size_t dwarf_abbrevs_load(struct dwarf_abbrevs *abbrevs, struct bytes table,
			  struct dwarf_encoding encoding);
/* Only the entry of that code. */
size_t dwarf_abbrevs_load_one(struct dwarf_abbrevs *abbrevs, struct bytes table,
			      struct dwarf_encoding encoding, uint64_t code);
void dwarf_abbrevs_deinit(struct dwarf_abbrevs *abbrevs);

const struct dwarf_abbrev *dwarf_abbrevs_search(const struct dwarf_abbrevs *abbrevs, uint64_t code);

/* NULL: no such code. */
static inline const struct dwarf_abbrev *dwarf_abbrevs_get(const struct dwarf_abbrevs *abbrevs,
							   uint64_t code)
{
	if (__builtin_expect(abbrevs->is_dense, 1))
		return code - 1 < abbrevs->count ? &abbrevs->entries[code - 1] : NULL;
	return dwarf_abbrevs_search(abbrevs, code);
}

/* From an entry's first attribute to behind its last. */
static inline void dwarf_abbrev_skip(const struct dwarf_abbrevs *abbrevs,
				     const struct dwarf_abbrev *abbrev, struct bytes *at)
{
	const struct dwarf_skip *skip = &abbrevs->skips[abbrev->first_skip];

	for (;; skip++) {
		bytes_skip(at, skip->bytes);
		if (skip->is_last)
			return;
		if (skip->layout == DWARF_LAYOUT_BLOCK)
			bytes_skip(at, bytes_uleb(at));
		else
			dwarf_value_skip(at, skip->layout, abbrevs->encoding);
	}
}

#endif
