/*
 * Go's own function table (.gopclntab), which every Go program has for its tracebacks, also
 * without symbols and DWARF (-ldflags="-s -w"): vaddr → inline chain with files and lines, as Go's
 * runtime prints them.
 *
 * Opening reads a header (elf/go_table.h); each address is then looked up in the file itself.
 * Strings are copied into the arena; the ELF file must outlive the table. Thread-safe after
 * construction, with one arena per thread. Source: runtime/symtab.go, symtabinl.go and runtime2.go
 * (_func, inlinedCall), internal/abi/symtab.go of Go.
 */
#ifndef PROF_SYMBOL_GOPCLNTAB_H
#define PROF_SYMBOL_GOPCLNTAB_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "dwarf/inline_chain.h"
#include "elf/elf_file.h"
#include "symbol/symtab.h"

struct gopclntab;

/* NULL if the file is not a Go program or has an unknown layout. */
struct gopclntab *gopclntab_new(struct elf_file *elf);
void gopclntab_free(struct gopclntab *table);
DEFINE_CLEANUP(gopclntab, gopclntab_free)

/*
 * The physical function that covers vaddr, up to the next one; false if the address is not in Go's
 * code.
 */
bool gopclntab_find(const struct gopclntab *table, uint64_t vaddr, struct arena *arena,
		    struct symbol *ret);
/* The same, where the function does not matter. */
bool gopclntab_has(const struct gopclntab *table, uint64_t vaddr);
/* Empty if gopclntab_find() is false; otherwise all of its calls have names. */
struct inline_chain gopclntab_resolve(const struct gopclntab *table, uint64_t vaddr,
				      struct arena *arena);

#endif
