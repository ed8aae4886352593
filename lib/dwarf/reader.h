/*
 * The opened units of one lookup, in a file and its supplementary file. Each
 * unit is opened once. Not thread-safe: each thread needs its own reader.
 */
#ifndef PROF_DWARF_READER_H
#define PROF_DWARF_READER_H

#include "base/arena.h"
#include "base/idmap.h"
#include "dwarf/line.h"
#include "dwarf/view.h"

struct dwarf_opened {
	struct dwarf_view view;
	struct dwarf_lines *lines; /* NULL if not read yet */
};

struct dwarf_reader {
	const struct dwarf_file *debug, *alt; /* `alt` may be NULL */
	/* For a split unit. */
	const struct dwarf_unit *split;	   /* NULL if `debug` does not have split units */
	const struct dwarf_view *skeleton; /* provides the lines */
	struct arena *arena;		   /* for results */
	struct dwarf_opened **opened;
	size_t opened_count, opened_room;
	struct idmap opened_ids; /* by offset of the unit and file */
	struct dwarf_abbrevs **abbrevs;
	size_t abbrevs_count, abbrevs_room;
	struct idmap abbrevs_ids; /* by offset of the table, file and encoding */
	/*
	 * Bounds the tables read. Valid tables do not overlap, so the section's
	 * size suffices to read each of them once.
	 */
	uint64_t abbrev_bytes_left;
	/*
	 * Bounds the line headers read. Units may share a large line table, but
	 * not all of them can.
	 */
	uint64_t line_bytes_left;
};

void dwarf_reader_init(struct dwarf_reader *reader, const struct dwarf_file *debug,
		       const struct dwarf_file *alt, struct arena *arena);
/*
 * Opens a split unit and the other units in its file. Borrows the view of its
 * skeleton unit.
 */
void dwarf_reader_init_split(struct dwarf_reader *reader, const struct dwarf_file *file,
			     const struct dwarf_unit *unit, const struct dwarf_view *skeleton,
			     struct arena *arena);
void dwarf_reader_deinit(struct dwarf_reader *reader);

struct dwarf_opened *dwarf_reader_open(struct dwarf_reader *reader, const struct dwarf_file *file,
				       const struct dwarf_unit *unit);
/* Reads the entry and returns its unit, or NULL if there is no such entry. */
struct dwarf_opened *dwarf_reader_die(struct dwarf_reader *reader, struct dwarf_reference reference,
				      struct dwarf_die *ret);

/* Never returns NULL. */
struct dwarf_lines *dwarf_reader_lines(struct dwarf_reader *reader, struct dwarf_opened *opened);

#endif
