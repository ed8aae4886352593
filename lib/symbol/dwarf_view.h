/*
 * A unit, opened for reading: its abbreviations, what its root entry says about the whole unit, and
 * the way from an attribute's value to a string, an address or another entry.
 */
#ifndef PROF_SYMBOL_DWARF_VIEW_H
#define PROF_SYMBOL_DWARF_VIEW_H

#include "symbol/dwarf_abbrev.h"
#include "symbol/dwarf_unit.h"

/* An entry of .debug_info ("debugging information entry"). */
struct dwarf_die {
	uint64_t offset;
	uint32_t depth; /* the root's is 0 */
	const struct dwarf_abbrev *abbrev;
	struct bytes attributes;
};

/* Where an entry's code is, as its attributes say it. */
struct dwarf_pcs {
	struct dwarf_value low, high, ranges;
};

/* What the root entry says. Values that it does not have are zero, which no value there is is. */
struct dwarf_root {
	struct dwarf_pcs pcs;
	struct dwarf_value name, directory, producer;
	struct dwarf_value lines; /* offset of the line program in .debug_line */
	uint64_t strings_base, addresses_base, ranges_base;
	uint64_t language; /* DW_LANG_* */
	uint16_t tag;
	bool is_skeleton; /* its entries are in another file (.dwo) */
	bool has_children;
};

struct dwarf_view {
	const struct dwarf_file *file;
	const struct dwarf_file *alt; /* dwz's supplementary file, or NULL */
	const struct dwarf_unit *unit;
	const struct dwarf_abbrevs *abbrevs;
	struct dwarf_root root;
};

/* Reads the root entry. abbrevs: the unit's, or of them the root's alone when nothing else is to be
 * read. All is borrowed. */
struct dwarf_view dwarf_view_of(const struct dwarf_file *file, const struct dwarf_file *alt,
				const struct dwarf_unit *unit, const struct dwarf_abbrevs *abbrevs);

/* False: there is no entry at that place. ret->depth is not known and 0. */
bool dwarf_view_die(const struct dwarf_view *view, uint64_t offset, struct dwarf_die *ret);

/* One attribute after the other. */
struct dwarf_attrs {
	struct bytes at;
	const struct dwarf_attr *next, *end;
	struct dwarf_encoding encoding;
};

struct dwarf_attrs dwarf_attrs_of(const struct dwarf_view *view, const struct dwarf_die *die);
bool dwarf_attrs_next(struct dwarf_attrs *attrs, struct dwarf_value *ret);

/* Takes the value if it is one of the three. */
void dwarf_pcs_take(struct dwarf_pcs *pcs, const struct dwarf_value *value);

/* Borrowed from a section; NULL: the value is no string, or a damaged one. */
const char *dwarf_string(const struct dwarf_view *view, const struct dwarf_value *value);
/* False: the value is no address. */
bool dwarf_address(const struct dwarf_view *view, const struct dwarf_value *value, uint64_t *ret);

/* Another entry, perhaps of another unit or of the supplementary file. */
struct dwarf_reference {
	const struct dwarf_file *file; /* NULL: to none that we know */
	uint64_t offset;
};

struct dwarf_reference dwarf_reference(const struct dwarf_view *view,
				       const struct dwarf_value *value);

#endif
