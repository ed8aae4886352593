/*
 * Reads the DWARF of one module: maps a vaddr to its inline chain with files
 * and lines. Supports DWARF 4 and 5 (2 and 3 where they agree with 4), GCC and
 * LLVM, and dwz's supplementary files.
 *
 * dwarf_new() reads only the unit headers and their ranges. dwarf_resolve()
 * reads the units that contain addresses: it scans each once, linearly, by its
 * abbreviations, runs its line program once, and then drops the pages. Any
 * number of threads may resolve different units of one struct dwarf at the same
 * time, or share the work on a large unit. If a part of the DWARF is malformed,
 * its addresses have empty chains. Memory outside of the sections is never
 * read.
 *
 * Split units in .dwo files and .dwp packages (dwarf/split.h) are read if there
 * is an opener. Otherwise a skeleton unit provides lines and the functions that
 * it contains: the names of inlined functions, with -fsplit-dwarf-inlining and
 * in Rust programs.
 */
#ifndef PROF_DWARF_DWARF_H
#define PROF_DWARF_DWARF_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "dwarf/inline_chain.h"
#include "elf/debugfile.h"
#include "elf/elf_file.h"

#include <stdint.h>

struct dwarf;

#define DWARF_NO_UNIT UINT32_MAX

/*
 * Opens the DWARF of a file. Returns NULL if the file has no .debug_info. `alt`
 * is dwz's supplementary file, or NULL. Both files must outlive the result.
 */
struct dwarf *dwarf_new(struct elf_file *debug, struct elf_file *alt);
void dwarf_free(struct dwarf *dwarf);
DEFINE_CLEANUP(dwarf, dwarf_free)

/*
 * For callers that resolve addresses of the same units repeatedly.
 * dwarf_resolve() then remembers the position of a unit's functions and later
 * reads only those that cover a requested address.
 */
void dwarf_keep_contents(struct dwarf *dwarf);

/*
 * For programs that consist mostly of one unit: a unit of more than part_bytes
 * is read in parts. run() calls work(context, part) for each part, concurrently
 * if possible, and returns when all are done. The chains do not depend on how
 * it does this.
 */
struct dwarf_sharing {
	uint64_t part_bytes;
	elf_run *run;
	void *user;
};

void dwarf_share_units(struct dwarf *dwarf, const struct dwarf_sharing *sharing);

/*
 * Enables split DWARF: opens the .dwo files of units in which addresses are
 * resolved. `program` is the module's ELF file; it may be the file with the
 * skeleton units. Both arguments must outlive the result. Several threads call
 * the opener.
 */
void dwarf_follow_splits(struct dwarf *dwarf, struct elf_file *program,
			 const struct debugfile_opener *opener);

/* Counts units whose entries are in other files. */
struct dwarf_split_counts {
	uint32_t units;
	uint32_t missing; /* units with requested addresses whose files were not found */
	/*
	 * The file of one missing unit when it was built, or NULL if unknown.
	 */
	char *example;
	bool has_changed; /* a file was truncated or overwritten while it was read */
};

/* Call after all addresses have been resolved. The caller frees `example`. */
struct dwarf_split_counts dwarf_split_counts(const struct dwarf *dwarf);
/* Returns the unit that covers vaddr, or DWARF_NO_UNIT. */
uint32_t dwarf_unit_of(const struct dwarf *dwarf, uint64_t vaddr);
/*
 * Returns true if the file has units that this reader does not support. Their
 * addresses are unknown.
 */
bool dwarf_has_unread(const struct dwarf *dwarf);
/*
 * Returns the size of a unit in .debug_info, an estimate of the work that it
 * takes.
 */
uint64_t dwarf_unit_bytes(const struct dwarf *dwarf, uint32_t unit);

/*
 * Stores one inline chain per address in `ret`, allocated in the arena.
 * `vaddrs` must be ascending and all covered by the unit. Returns false if a
 * part of the unit is not supported, so that functions or lines can be missing.
 * If `demangler` is NULL, all linkage names can be demangled.
 */
bool dwarf_resolve(const struct dwarf *dwarf, uint32_t unit, const uint64_t *vaddrs, size_t count,
		   const struct dwarf_demangler *demangler, struct arena *arena,
		   struct inline_chain *ret);

#endif
