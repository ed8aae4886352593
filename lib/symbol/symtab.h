/*
 * The ELF symbol tables of one module: from a vaddr to the function symbol that covers it. Source:
 * gABI, "Symbol Table".
 */
#ifndef PROF_SYMBOL_SYMTAB_H
#define PROF_SYMBOL_SYMTAB_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "elf/image.h"

struct symtab;

struct symbol {
	uint64_t vaddr, size_bytes;
	const char *name; /* without @VERSION; borrowed from the images or in the arena */
};

/*
 * .symtab of the image and of its debug file (NULL: none), both of which must outlive it; where the
 * image has none .dynsym, too, which is else a part of it. Functions, indirect functions, and untyped symbols in
 * executable sections; of a linkage table (.plt) the stubs, as "name@plt".
 *
 * An address beyond a symbol's end is not its. A symbol without a size, as hand-written assembly
 * has them, reaches to the next symbol or the section's end, but is nothing inside another's size.
 * Of several names that cover an address the one that begins last; of those, the global one before
 * the weak before the local, a function before an untyped symbol, fewer leading underscores before
 * more, then by name, so that the choice is always the same.
 */
struct symtab *symtab_new(struct image *image, struct image *debug);
void symtab_free(struct symtab *symtab);
DEFINE_CLEANUP(symtab, symtab_free)

/* How good the tables are: without a .symtab only exported functions have names. */
bool symtab_is_complete(const struct symtab *symtab);
bool symtab_is_empty(const struct symtab *symtab);

/* Thread-safe once built (an arena a thread). */
bool symtab_find(const struct symtab *symtab, uint64_t vaddr, struct arena *arena,
		 struct symbol *ret);

#endif
