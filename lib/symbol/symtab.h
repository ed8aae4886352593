/*
 * The ELF symbol table of one module: from a vaddr to the function symbol that covers it. Source:
 * gABI, "Symbol Table".
 */
#ifndef PROF_SYMBOL_SYMTAB_H
#define PROF_SYMBOL_SYMTAB_H

#include "base/cleanup.h"
#include "elf/image.h"

struct symtab;

struct symbol {
	uint64_t vaddr, size_bytes; /* size 0: up to the next symbol */
	const char *name;	    /* borrowed from the images; without @VERSION */
};

/*
 * .symtab and .dynsym of the image and .symtab of its debug file (NULL: none), both of which must
 * outlive it. Functions, indirect functions, and untyped symbols in executable sections. Where
 * several names cover an address: the global one before the weak before the local, fewer leading
 * underscores before more, then by name, so that the choice is always the same.
 */
struct symtab *symtab_new(struct image *image, struct image *debug);
void symtab_free(struct symtab *symtab);
DEFINE_CLEANUP(symtab, symtab_free)

/* Thread-safe once built. */
bool symtab_find(const struct symtab *symtab, uint64_t vaddr, struct symbol *ret);

#endif
