/*
 * DWARF of one module: vaddr → the inline chain there, with files and lines. Supports DWARF 4 and
 * 5 (2 and 3 where they agree), GCC and LLVM, and dwz's supplementary file.
 *
 * dwarf_new() reads only the unit headers and their ranges. dwarf_resolve() scans the units that
 * were hit, each once and linearly by its abbreviations, runs their line programs once, and drops
 * the pages it read. Any number of threads may resolve different units of one `struct dwarf` at
 * the same time, and share a large one. Damaged DWARF costs the symbols of what is damaged: the
 * chain is empty, never wrong memory.
 *
 * Split DWARF is followed into .dwo files and .dwp packages (dwarf/split.h) if there is somebody
 * who opens them. Without them a skeleton unit gives lines, and what functions it has: with
 * -fsplit-dwarf-inlining and in Rust programs the names of inlined ones.
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
 * NULL if the ELF file has no .debug_info. alt: dwz's supplementary file, or NULL. Both must
 * outlive it.
 */
struct dwarf *dwarf_new(struct elf_file *debug, struct elf_file *alt);
void dwarf_free(struct dwarf *dwarf);
DEFINE_CLEANUP(dwarf, dwarf_free)

/*
 * For callers that resolve addresses of the same units repeatedly: dwarf_resolve() keeps where a
 * unit's functions are (24 bytes each) and later reads only those that cover a requested address.
 */
void dwarf_keep_contents(struct dwarf *dwarf);

/*
 * For one unit that is most of a program: a unit of more than part_bytes is read in parts. run():
 * calls work(context, part) for each of them, at the same time if it can, and returns when all are
 * done. The chains are the same, whatever it does.
 */
struct dwarf_sharing {
	uint64_t part_bytes;
	elf_run *run;
	void *user;
};

void dwarf_share_units(struct dwarf *dwarf, const struct dwarf_sharing *sharing);

/*
 * Opens the .dwo files of those units that addresses are resolved in. program: the module's ELF
 * file, which may be the one with the skeletons. Both must outlive it. opener: of several threads.
 */
void dwarf_follow_splits(struct dwarf *dwarf, struct elf_file *program,
			 const struct debugfile_opener *opener);

/* Of units whose entries are in other files, so far. */
struct dwarf_split_counts {
	uint32_t units;
	uint32_t missing; /* addresses were resolved in them, but their files not found */
	char *example;	  /* where the file of one of these was built; NULL: unknown */
	bool has_changed; /* a file was cut or overwritten while it was read */
};

/* To be asked when all addresses are resolved. The caller frees the example. */
struct dwarf_split_counts dwarf_split_counts(const struct dwarf *dwarf);
/* The unit that covers vaddr, or DWARF_NO_UNIT. */
uint32_t dwarf_unit_of(const struct dwarf *dwarf, uint64_t vaddr);
/* True if there are units that it cannot read, whose addresses it does not know. */
bool dwarf_has_unread(const struct dwarf *dwarf);
/* The size of a unit in .debug_info: a measure of the work it takes. */
uint64_t dwarf_unit_bytes(const struct dwarf *dwarf, uint32_t unit);

/*
 * vaddrs: ascending, all of that unit. ret: one chain per address, allocated in the arena. False if
 * a part of the unit is not understood, so that functions or lines can be missing. demangler: NULL:
 * all linkage names can be demangled.
 */
bool dwarf_resolve(const struct dwarf *dwarf, uint32_t unit, const uint64_t *vaddrs, size_t count,
		   const struct dwarf_demangler *demangler, struct arena *arena,
		   struct inline_chain *ret);

#endif
