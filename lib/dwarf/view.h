/*
 * An open unit: its abbreviations and its root entry. Resolves attribute values
 * to strings, addresses and other entries.
 */
#ifndef PROF_DWARF_VIEW_H
#define PROF_DWARF_VIEW_H

#include "dwarf/abbrev.h"
#include "dwarf/unit.h"

/* A debugging information entry (DIE). */
struct dwarf_die {
	uint64_t offset;
	uint32_t depth; /* 0 for the root */
	const struct dwarf_abbrev *abbrev;
	struct bytes attributes;
};

/* The attributes that contain the addresses of an entry's code. */
struct dwarf_pcs {
	struct dwarf_value low, high, ranges;
};

/* The root entry. Missing values are zero, which is never a valid value. */
struct dwarf_root {
	struct dwarf_pcs pcs;
	struct dwarf_value name, directory, producer;
	struct dwarf_value lines;    /* offset of the line program in .debug_line */
	struct dwarf_value dwo_name; /* for skeletons: path of the file with the entries */
	uint64_t dwo_id;	     /* 0 if there is none */
	/* For skeletons: applies only to entries of the split unit. */
	uint64_t gnu_ranges_base;
	uint64_t strings_base, addresses_base, ranges_base;
	uint64_t pairs_base; /* base in .debug_ranges, for split units of DWARF 4 */
	uint64_t language;   /* DW_LANG_* */
	uint16_t tag;
	/* The entries are in a .dwo file. Meaningless for a split unit. */
	bool is_skeleton;
	bool has_children;
	bool is_unread; /* it exists, but a part of it is not supported */
};

struct dwarf_view {
	const struct dwarf_file *file;
	const struct dwarf_file *alt; /* dwz's supplementary file, or NULL */
	const struct dwarf_unit *unit;
	const struct dwarf_abbrevs *abbrevs;
	struct dwarf_root root;
};

/*
 * Reads the root entry. `abbrevs` is the unit's table, or contains only the
 * root's abbreviation if nothing else will be read. Borrows its arguments.
 */
struct dwarf_view dwarf_view_of(const struct dwarf_file *file, const struct dwarf_file *alt,
				const struct dwarf_unit *unit, const struct dwarf_abbrevs *abbrevs);

/*
 * Like dwarf_view_of(), for a split unit. Its file must include the sections
 * that it shares with its skeleton unit (dwarf_split_sections_add()). Its
 * addresses and lines are described by the skeleton's root entry.
 */
struct dwarf_view dwarf_view_of_split(const struct dwarf_file *file, const struct dwarf_unit *unit,
				      const struct dwarf_abbrevs *abbrevs,
				      const struct dwarf_view *skeleton);

/*
 * Returns false if there is no entry at the offset. ret->depth is unknown and
 * set to 0.
 */
bool dwarf_view_die(const struct dwarf_view *view, uint64_t offset, struct dwarf_die *ret);

/* Iterates over attributes. */
struct dwarf_attrs {
	struct bytes at;
	const struct dwarf_attr *next, *end;
	struct dwarf_encoding encoding;
};

struct dwarf_attrs dwarf_attrs_of(const struct dwarf_view *view, const struct dwarf_die *die);
bool dwarf_attrs_next(struct dwarf_attrs *attrs, struct dwarf_value *ret);

/* Stores the value if it is one of the three. */
void dwarf_pcs_take(struct dwarf_pcs *pcs, const struct dwarf_value *value);

/*
 * Returns the string, borrowed from a section (bytes_text()). `at` is NULL if
 * the value is not a valid string.
 */
struct bytes dwarf_string(const struct dwarf_view *view, const struct dwarf_value *value);
/* Returns false if the value is not an address. */
bool dwarf_address(const struct dwarf_view *view, const struct dwarf_value *value, uint64_t *ret);

/*
 * A reference to an entry, which may be in another unit or in the supplementary
 * file.
 */
struct dwarf_reference {
	const struct dwarf_file *file; /* NULL if it cannot be resolved */
	uint64_t offset;
};

struct dwarf_reference dwarf_reference(const struct dwarf_view *view,
				       const struct dwarf_value *value);

#endif
