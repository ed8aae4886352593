/*
 * The units that one lookup has opened, of a file and its supplementary file, each once. Not
 * thread-safe: one reader per thread.
 */
#ifndef PROF_DWARF_READER_H
#define PROF_DWARF_READER_H

#include "base/arena.h"
#include "base/idmap.h"
#include "dwarf/line.h"
#include "dwarf/view.h"

struct dwarf_opened {
	struct dwarf_view view;
	struct dwarf_lines *lines; /* NULL: not read yet */
};

struct dwarf_reader {
	const struct dwarf_file *debug, *alt; /* alt: may be NULL */
	/* Of a split unit: */
	const struct dwarf_unit *split;	   /* NULL: debug has no split units */
	const struct dwarf_view *skeleton; /* has its lines */
	struct arena *arena;		   /* for results */
	struct dwarf_opened **opened;
	size_t opened_count, opened_room;
	struct idmap opened_ids; /* by offset of the unit, file */
	struct dwarf_abbrevs **abbrevs;
	size_t abbrevs_count, abbrevs_room;
	struct idmap abbrevs_ids; /* by offset of the table, file and encoding */
	/* Valid tables do not overlap, so reading each once costs at most the section's size. */
	uint64_t abbrev_bytes_left;
	/* Bounds the line headers read: units may share a large line table, but not all of them. */
	uint64_t line_bytes_left;
};

void dwarf_reader_init(struct dwarf_reader *reader, const struct dwarf_file *debug,
		       const struct dwarf_file *alt, struct arena *arena);
/* Of a split unit and the others in its file. Borrows the view of its skeleton unit. */
void dwarf_reader_init_split(struct dwarf_reader *reader, const struct dwarf_file *file,
			     const struct dwarf_unit *unit, const struct dwarf_view *skeleton,
			     struct arena *arena);
void dwarf_reader_deinit(struct dwarf_reader *reader);

struct dwarf_opened *dwarf_reader_open(struct dwarf_reader *reader, const struct dwarf_file *file,
				       const struct dwarf_unit *unit);
/* Reads the entry and returns its unit; NULL if there is no such entry. */
struct dwarf_opened *dwarf_reader_die(struct dwarf_reader *reader, struct dwarf_reference reference,
				      struct dwarf_die *ret);

/* Never NULL. */
struct dwarf_lines *dwarf_reader_lines(struct dwarf_reader *reader, struct dwarf_opened *opened);

#endif
