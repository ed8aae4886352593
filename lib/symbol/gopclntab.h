/*
 * Reads Go's function table (.gopclntab): maps a vaddr to the inline chain with
 * files and lines, as Go's runtime prints it. Every Go program has this table
 * for its tracebacks, even without symbols and DWARF (-ldflags="-s -w").
 *
 * Opening reads a header (elf/go_table.h). Each address is then looked up in
 * the file itself. Strings are copied into the arena. The ELF file must outlive
 * the table. Thread-safe after construction, with one arena per thread.
 *
 * Source: runtime/symtab.go, symtabinl.go and runtime2.go (_func, inlinedCall),
 * internal/abi/symtab.go of Go.
 */
#ifndef PROF_SYMBOL_GOPCLNTAB_H
#define PROF_SYMBOL_GOPCLNTAB_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "dwarf/inline_chain.h"
#include "elf/elf_file.h"
#include "symbol/symtab.h"

struct gopclntab;

/*
 * Returns NULL if the file is not a Go program or the table's layout is
 * unknown.
 */
struct gopclntab *gopclntab_new(struct elf_file *elf);
void gopclntab_free(struct gopclntab *table);
DEFINE_CLEANUP(gopclntab, gopclntab_free)

/*
 * Finds the physical function that covers vaddr. It extends to the next
 * function. Returns false if vaddr is not in Go code.
 */
bool gopclntab_find(const struct gopclntab *table, uint64_t vaddr, struct arena *arena,
		    struct symbol *ret);
/* Returns true if gopclntab_find() would find a function. */
bool gopclntab_has(const struct gopclntab *table, uint64_t vaddr);
/*
 * Returns an empty chain if gopclntab_find() returns false. Otherwise all calls
 * in the chain have names.
 */
struct inline_chain gopclntab_resolve(const struct gopclntab *table, uint64_t vaddr,
				      struct arena *arena);

#endif
