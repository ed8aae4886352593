/*
 * Reads attribute values by their form. Source: DWARF 5, 7.5.6 "Form
 * Encodings"; the older GNU extensions for supplementary files.
 */
#ifndef PROF_DWARF_FORM_H
#define PROF_DWARF_FORM_H

#include "base/bytes.h"

/* Properties of the unit that determine the sizes of values. */
struct dwarf_encoding {
	uint8_t version;
	uint8_t address_bytes; /* 4 or 8 */
	uint8_t offset_bytes;  /* 4, or 8 in 64-bit DWARF */
};

struct dwarf_value {
	uint16_t name; /* DW_AT_*, or DW_LNCT_* in a line table */
	uint16_t form; /* DW_FORM_*, or 0 if there is no value */
	/*
	 * A constant, offset, index or address. For a block or string, its
	 * length.
	 */
	uint64_t number;
	/* For DW_FORM_string and blocks. Otherwise NULL. */
	const void *string;
};

/* The layout of a value: its size (0 to 16 bytes) or one of these. */
enum dwarf_layout {
	DWARF_LAYOUT_LEB = 17,
	DWARF_LAYOUT_STRING,
	DWARF_LAYOUT_BLOCK1,
	DWARF_LAYOUT_BLOCK2,
	DWARF_LAYOUT_BLOCK4,
	DWARF_LAYOUT_BLOCK, /* preceded by its length as LEB128 */
	DWARF_LAYOUT_INDIRECT,
	DWARF_LAYOUT_UNKNOWN,
};

uint8_t dwarf_form_layout(uint64_t form, struct dwarf_encoding encoding);

/*
 * Skips one value. An unknown form fails the cursor, because nothing after it
 * can be read.
 */
void dwarf_value_skip(struct bytes *at, uint8_t layout, struct dwarf_encoding encoding);

/*
 * Reads one value. `implicit` is the value of DW_FORM_implicit_const. Does not
 * set ret->name.
 */
void dwarf_value_read(struct bytes *at, uint16_t form, int64_t implicit,
		      struct dwarf_encoding encoding, struct dwarf_value *ret);

#endif
