/*
 * Abbreviation tables: the layout of each kind of entry (DIE) of .debug_info,
 * prepared so that irrelevant entries are skipped in a few instructions.
 * Source: DWARF 5, 7.5.3 "Abbreviations Tables".
 */
#ifndef PROF_DWARF_ABBREV_H
#define PROF_DWARF_ABBREV_H

#include "dwarf/form.h"

/* The roles of an entry. */
enum dwarf_role {
	DWARF_FUNCTION = 1, /* DW_TAG_subprogram that has code */
	DWARF_INLINED = 2,  /* DW_TAG_inlined_subroutine that has code */
	/*
	 * Its name qualifies the names of its children. All functions are
	 * scopes.
	 */
	DWARF_SCOPE = 4,
};

struct dwarf_attr {
	uint16_t name, form;
	int64_t implicit; /* value of DW_FORM_implicit_const */
};

/* Skip `bytes` bytes, then one value of the given layout. */
struct dwarf_skip {
	uint16_t bytes;
	uint8_t layout;
	bool is_last;
};

/*
 * The position of an entry's addresses. Known only if all attributes before
 * them have a fixed size.
 */
struct dwarf_pcs_plan {
	uint16_t at; /* offset of low_pc from the first attribute */
	/*
	 * Size of high_pc, which directly follows low_pc and is a length. 0 if
	 * the attributes have another form.
	 */
	uint8_t length_bytes;
};

struct dwarf_abbrev {
	uint64_t code;
	uint32_t first_attr, attr_count;
	uint32_t first_skip;
	uint16_t tag;
	uint8_t roles;
	bool has_children;
	bool is_fixed; /* all attributes together have fixed_bytes bytes */
	uint16_t fixed_bytes;
	struct dwarf_pcs_plan pcs;
};

struct dwarf_abbrevs {
	struct dwarf_encoding encoding;
	struct dwarf_abbrev *entries; /* by code */
	size_t count, room;
	struct dwarf_attr *attrs;
	size_t attr_count, attr_room;
	struct dwarf_skip *skips;
	size_t skip_count, skip_room;
	bool is_dense; /* entry N has code N + 1, which is the usual case */
	uint8_t roles; /* union of the roles of all entries */
};

/*
 * Loads a table. `abbrevs` must be zero-initialized, and `table` must start at
 * the table's first byte. A malformed entry ends the table. Returns the number
 * of bytes read.
 */
size_t dwarf_abbrevs_load(struct dwarf_abbrevs *abbrevs, struct bytes table,
			  struct dwarf_encoding encoding);
/* Like dwarf_abbrevs_load(), for the entry with that code only. */
size_t dwarf_abbrevs_load_one(struct dwarf_abbrevs *abbrevs, struct bytes table,
			      struct dwarf_encoding encoding, uint64_t code);
void dwarf_abbrevs_deinit(struct dwarf_abbrevs *abbrevs);

const struct dwarf_abbrev *dwarf_abbrevs_search(const struct dwarf_abbrevs *abbrevs, uint64_t code);

/* Returns NULL if there is no entry with that code. */
static inline const struct dwarf_abbrev *dwarf_abbrevs_get(const struct dwarf_abbrevs *abbrevs,
							   uint64_t code)
{
	if (__builtin_expect(abbrevs->is_dense, 1))
		return code - 1 < abbrevs->count ? &abbrevs->entries[code - 1] : NULL;
	return dwarf_abbrevs_search(abbrevs, code);
}

/*
 * Advances the cursor from an entry's first attribute to the end of its last
 * one.
 */
static inline void dwarf_abbrev_skip(const struct dwarf_abbrevs *abbrevs,
				     const struct dwarf_abbrev *abbrev, struct bytes *at)
{
	const struct dwarf_skip *skip;

	if (abbrev->is_fixed) {
		bytes_skip(at, abbrev->fixed_bytes);
		return;
	}
	for (skip = &abbrevs->skips[abbrev->first_skip];; skip++) {
		bytes_skip(at, skip->bytes);
		if (skip->is_last)
			return;
		if (skip->layout == DWARF_LAYOUT_BLOCK) {
			bytes_skip(at, bytes_uleb(at));
		} else if (skip->layout == DWARF_LAYOUT_LEB) {
			bytes_uleb(at);
		} else {
			struct bytes copy = *at; /* allows registers, as in bytes_uleb() */

			dwarf_value_skip(&copy, skip->layout, abbrevs->encoding);
			*at = copy;
		}
	}
}

/*
 * Reads the addresses of an entry that has one range. `attributes` must contain
 * all attributes of the entry. Returns false if the abbreviation does not
 * determine the position; dwarf_attrs_of() finds the addresses in that case.
 */
static inline bool dwarf_abbrev_pcs(const struct dwarf_abbrev *abbrev, struct bytes attributes,
				    uint64_t *low, uint64_t *high)
{
	if (!abbrev->pcs.length_bytes)
		return false;
	bytes_skip(&attributes, abbrev->pcs.at);
	*low = bytes_u64(&attributes);
	*high = *low +
		(abbrev->pcs.length_bytes == 4 ? bytes_u32(&attributes) : bytes_u64(&attributes));
	return bytes_ok(&attributes);
}

#endif
