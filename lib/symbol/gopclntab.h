/*
 * The table of functions that every Go program carries for its own tracebacks, also without any
 * symbols or DWARF (-ldflags="-s -w"): from a vaddr to the functions inlined there, with file and
 * line, as Go's runtime would print them.
 *
 * Layouts of Go 1.18 and later; from what it does not know it gives nothing. Opening reads a
 * header; each address is then looked up in the file itself. Strings are borrowed from the image,
 * which must outlive the table. Thread-safe once built (an arena a thread). Source:
 * runtime/symtab.go, symtabinl.go and runtime2.go (pcHeader, moduledata, _func, inlinedCall),
 * internal/abi/symtab.go, cmd/link/internal/ld/pcln.go of Go.
 */
#ifndef PROF_SYMBOL_GOPCLNTAB_H
#define PROF_SYMBOL_GOPCLNTAB_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "elf/image.h"
#include "symbol/inline_chain.h"
#include "symbol/symtab.h"

struct gopclntab;

/* NULL: no Go program, or one of a layout that is not known. */
struct gopclntab *gopclntab_new(struct image *image);
void gopclntab_free(struct gopclntab *table);
DEFINE_CLEANUP(gopclntab, gopclntab_free)

/* The physical function, up to the next one; false: the address is not in Go's code. */
bool gopclntab_find(const struct gopclntab *table, uint64_t vaddr, struct symbol *ret);
/* Empty where gopclntab_find() is false; else all of its calls have names. */
struct inline_chain gopclntab_resolve(const struct gopclntab *table, uint64_t vaddr,
				      struct arena *arena);

#endif
