/*
 * The ELF symbol tables of one module: vaddr → the symbol of the function, or of the variable, that
 * covers it. Source: gABI, "Symbol Table".
 */
#ifndef PROF_SYMBOL_SYMTAB_H
#define PROF_SYMBOL_SYMTAB_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "elf/elf_file.h"

struct symtab;

struct symbol {
	uint64_t vaddr, size_bytes;
	const char *name; /* without @VERSION; in the arena */
};

/*
 * Reads .symtab of the ELF file and of its debug file (NULL if none), both of which must outlive
 * it, and .dynsym if the ELF file has no .symtab, also where only PT_DYNAMIC leads to it
 * (elf/dynamic_symbols.h). Takes functions, indirect functions, untyped symbols in executable
 * sections, objects in .data and .bss, and the stubs of a linkage table (.plt), as "name@plt".
 *
 * An address beyond a symbol's end does not belong to it. A symbol without a size, as in hand-
 * written assembly, reaches to the next symbol or the end of the section, but not into another
 * symbol's size. If several names cover an address, the one that begins last wins; of those, the
 * one that programs use: exported (global or weak) before local, function before untyped, fewer
 * leading underscores before more ("puts", not "_IO_puts"; the kernel's functions for programs have
 * theirs, "__vdso_time"), global before weak, of exported names the shorter one ("free", not
 * "cfree") and of local ones the longer one, as perf and gdb have them ("__memmove_avx_unaligned",
 * not "__memcpy_avx_unaligned"); then by name, so that the choice is deterministic.
 */
struct symtab *symtab_new(struct elf_file *elf, struct elf_file *debug);

/*
 * The same in two steps: a program can have a million symbols. symtab_open() only finds the tables.
 * symtab_read() reads them, in any thread, once: where it has returned, the other functions may be
 * called.
 */
struct symtab *symtab_open(struct elf_file *elf, struct elf_file *debug);
void symtab_read(struct symtab *symtab);

void symtab_free(struct symtab *symtab);
DEFINE_CLEANUP(symtab, symtab_free)

/* Without a .symtab only exported functions have symbols. */
bool symtab_is_complete(const struct symtab *symtab);
bool symtab_is_empty(const struct symtab *symtab);

/*
 * True if a symbol, also an undefined one, is of GNAT's run-time library: the file has Ada code.
 * The first call reads all names.
 */
bool symtab_is_of_ada(struct symtab *symtab);

/* Thread-safe after construction, with one arena per thread. */
bool symtab_find(const struct symtab *symtab, uint64_t vaddr, struct arena *arena,
		 struct symbol *ret);

#endif
