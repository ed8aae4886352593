/*
 * Split DWARF: finds the split units of a program's skeleton units, in .dwo files and .dwp
 * packages.
 *
 * Packages come first: PROGRAM.dwp beside the program or where its debug files are, DEBUGFILE.dwp
 * beside the debug file. Then the .dwo file: at the path that the skeleton has (a relative one is
 * relative to DW_AT_comp_dir, and this to the program's directory), the same path relative to the
 * program's directory, the file's name beside the program. Only a unit with the skeleton's id
 * counts.
 *
 * Thread-safe: any number of threads may open different units. Source: DWARF 5, 3.1.2, 3.1.3 and
 * 7.3.5; for DWARF 4 https://gcc.gnu.org/wiki/DebugFission.
 */
#ifndef PROF_DWARF_SPLIT_H
#define PROF_DWARF_SPLIT_H

#include "base/cleanup.h"
#include "dwarf/view.h"
#include "elf/debugfile.h"

/* Borrowed. */
struct dwarf_split_places {
	struct elf_file *program; /* its path, and its budget for what is decompressed */
	struct elf_file *debug;	  /* has the skeleton units; may be the program */
	const struct debugfile_opener *opener;
};

struct dwarf_splits;

/* skeletons: the file of the skeleton units; borrowed. */
struct dwarf_splits *dwarf_splits_new(const struct dwarf_file *skeletons,
				      const struct dwarf_split_places *places);
void dwarf_splits_free(struct dwarf_splits *splits);
DEFINE_CLEANUP(dwarf_splits, dwarf_splits_free)

/* For callers that open units repeatedly: .dwo files stay open. */
void dwarf_splits_keep(struct dwarf_splits *splits);

/* A split unit that is open. */
struct dwarf_split {
	const struct dwarf_file *file; /* with the sections that it shares with the skeleton */
	const struct dwarf_unit *unit;
	struct elf_file *elf;	 /* that has them */
	struct split_file *from; /* of dwarf_splits */
};

/* False if it was not found, which is then known for ever. */
bool dwarf_splits_open(struct dwarf_splits *splits, const struct dwarf_view *skeleton,
		       struct dwarf_split *ret);
void dwarf_splits_close(struct dwarf_splits *splits, struct dwarf_split *split);

/* The number of units that were asked for and not found, and the first of them; NULL: none. */
uint32_t dwarf_splits_missing(struct dwarf_splits *splits, const struct dwarf_unit **first);
/* Where the unit was when it was built; to be freed. NULL: the skeleton does not say. */
char *dwarf_splits_path(const struct dwarf_splits *splits, const struct dwarf_view *skeleton);
/* Whether a file was cut or overwritten while it was open. */
bool dwarf_splits_changed(struct dwarf_splits *splits);

/* For files that hold split units: sets the ids that DWARF 4 has in the units' root entries. */
void dwarf_split_read_ids(struct dwarf_file *file);

#endif
