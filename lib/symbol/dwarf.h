/*
 * DWARF of one module, for naming: from a vaddr to the chain of functions inlined there, with file
 * and line. DWARF 4 and 5 (2 and 3 where they agree), GCC and LLVM, dwz's supplementary file.
 *
 * dwarf_new() reads the unit headers and their ranges, nothing more; dwarf_resolve() then scans
 * only the units that were hit, each once, linearly by its abbreviations, and runs its line program
 * once, and gives the memory that this took of the file back to the kernel. Any number of threads
 * may resolve different units of one `struct dwarf` at a time. Damaged DWARF costs the names of
 * what is damaged: the chain is empty, never wrong memory. Split DWARF (.dwo files) is not
 * followed: its units cover no address.
 */
#ifndef PROF_SYMBOL_DWARF_H
#define PROF_SYMBOL_DWARF_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "elf/image.h"
#include "symbol/inline_chain.h"

#include <stdint.h>

struct dwarf;

#define DWARF_NO_UNIT UINT32_MAX

/* NULL when the image has no .debug_info. alt: dwz's supplementary file, or NULL. Both must outlive
 * it. */
struct dwarf *dwarf_new(struct image *debug, struct image *alt);
void dwarf_free(struct dwarf *dwarf);
DEFINE_CLEANUP(dwarf, dwarf_free)

/* For who resolves addresses of the same units again and again: what dwarf_resolve() learns of a
 * unit, where its functions are, is kept (24 bytes each), and the next time it reads only those
 * with an address that is asked for. */
void dwarf_keep_contents(struct dwarf *dwarf);

/* Some of its units are in .dwo files. */
bool dwarf_is_split(const struct dwarf *dwarf);
/* The unit that covers vaddr, or DWARF_NO_UNIT. */
uint32_t dwarf_unit_of(const struct dwarf *dwarf, uint64_t vaddr);
/* The bytes of .debug_info in a unit: how much work it is. */
uint64_t dwarf_unit_bytes(const struct dwarf *dwarf, uint32_t unit);

/* vaddrs: ascending, all of that unit. ret: one chain each, allocated in arena. */
void dwarf_resolve(const struct dwarf *dwarf, uint32_t unit, const uint64_t *vaddrs, size_t count,
		   struct arena *arena, struct inline_chain *ret);

#endif
