/*
 * Split DWARF: finds the split units of a program's skeleton units in .dwo
 * files and .dwp packages.
 *
 * The search order is:
 * 1. PROGRAM.dwp, next to the program or among its debug files
 * 2. DEBUGFILE.dwp, next to the debug file
 * 3. the .dwo file at the path in the skeleton; a relative path is relative to
 *    DW_AT_comp_dir, which may itself be relative to the program's directory
 * 4. the .dwo file at the same path relative to the program's directory
 * 5. the .dwo file with the same name next to the program
 *
 * A file is used only if it contains a unit with the skeleton's id.
 *
 * Thread-safe: any number of threads may open different units. Source: DWARF 5,
 * 3.1.2, 3.1.3 and 7.3.5; for DWARF 4 https://gcc.gnu.org/wiki/DebugFission.
 */
#ifndef PROF_DWARF_SPLIT_H
#define PROF_DWARF_SPLIT_H

#include "base/cleanup.h"
#include "dwarf/view.h"
#include "elf/debugfile.h"

/* All pointers are borrowed. */
struct dwarf_split_places {
	struct elf_file *program; /* provides the path and the decompression budget */
	struct elf_file *debug;	  /* contains the skeleton units; may be the program */
	const struct debugfile_opener *opener;
};

struct dwarf_splits;

/* `skeletons` is the file with the skeleton units; borrowed. */
struct dwarf_splits *dwarf_splits_new(const struct dwarf_file *skeletons,
				      const struct dwarf_split_places *places);
void dwarf_splits_free(struct dwarf_splits *splits);
DEFINE_CLEANUP(dwarf_splits, dwarf_splits_free)

/* Keeps .dwo files open, for callers that open units repeatedly. */
void dwarf_splits_keep(struct dwarf_splits *splits);

/* An open split unit. */
struct dwarf_split {
	/* Includes the sections that it shares with the skeleton. */
	const struct dwarf_file *file;
	const struct dwarf_unit *unit;
	struct elf_file *elf;	 /* contains the unit */
	struct split_file *from; /* private */
};

/* Returns false if the unit is not found. This result is final. */
bool dwarf_splits_open(struct dwarf_splits *splits, const struct dwarf_view *skeleton,
		       struct dwarf_split *ret);
void dwarf_splits_close(struct dwarf_splits *splits, struct dwarf_split *split);

/*
 * Returns the number of units that were requested and not found. *first is the
 * first of them, or NULL.
 */
uint32_t dwarf_splits_missing(struct dwarf_splits *splits, const struct dwarf_unit **first);
/*
 * Returns the path of the unit's file when it was built, or NULL if the
 * skeleton does not contain it. The caller frees it.
 */
char *dwarf_splits_path(const struct dwarf_splits *splits, const struct dwarf_view *skeleton);
/* Returns true if a file was truncated or overwritten while it was open. */
bool dwarf_splits_changed(struct dwarf_splits *splits);

/*
 * For files with split units: reads the ids from the units' root entries, where
 * DWARF 4 stores them.
 */
void dwarf_split_read_ids(struct dwarf_file *file);

#endif
