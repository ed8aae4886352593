/*
 * Looks up the symbol of the function or variable that covers a vaddr in the
 * ELF symbol tables of a module. Source: gABI, "Symbol Table".
 */
#ifndef PROF_SYMBOL_SYMTAB_H
#define PROF_SYMBOL_SYMTAB_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "elf/elf_file.h"

struct symtab;

struct symbol {
	uint64_t vaddr, size_bytes;
	const char *name; /* without @VERSION; allocated in the arena */
};

/*
 * Reads the symbol tables of an ELF file and its debug file. `debug` may be
 * NULL; both must outlive the result.
 *
 * It reads .symtab of both files, and .dynsym if the ELF file has no .symtab,
 * even if only PT_DYNAMIC leads to it (elf/dynamic_symbols.h). It keeps
 * functions, indirect functions, untyped symbols in executable sections,
 * objects in .data and .bss, and PLT stubs as "name@plt".
 *
 * A symbol does not cover addresses beyond its end. A symbol without a size, as
 * in hand-written assembly, extends to the next symbol or the end of the
 * section, but not into the range of a symbol with a size.
 *
 * If several symbols cover an address, the one that starts last is used. Among
 * those, the choice is, in this order:
 * 1. exported (global or weak) before local
 * 2. function before untyped
 * 3. fewer leading underscores, "puts" before "_IO_puts"; except for kernel
 *    functions called by programs, "__vdso_time"
 * 4. global before weak
 * 5. the shorter of exported names, "free" before "cfree"; the longer of local
 *    names like in perf and gdb, "__memmove_avx_unaligned" before
 *    "__memcpy_avx_unaligned"
 * 6. alphabetical order, so that the choice is deterministic
 */
struct symtab *symtab_new(struct elf_file *elf, struct elf_file *debug);

/*
 * Does the same in two steps, because a program can have a million symbols.
 * symtab_open() only locates the tables. symtab_read() reads them, in any
 * thread, and may be called once. The other functions may be called after it
 * has returned.
 */
struct symtab *symtab_open(struct elf_file *elf, struct elf_file *debug);
void symtab_read(struct symtab *symtab);

void symtab_free(struct symtab *symtab);
DEFINE_CLEANUP(symtab, symtab_free)

/*
 * Returns false if there is no .symtab, so that only exported functions have
 * symbols.
 */
bool symtab_is_complete(const struct symtab *symtab);
bool symtab_is_empty(const struct symtab *symtab);

/*
 * Returns true if a symbol, which may be undefined, belongs to GNAT's run-time
 * library: the file has Ada code. The first call reads all names.
 */
bool symtab_is_of_ada(struct symtab *symtab);

/* Thread-safe after construction, with one arena per thread. */
bool symtab_find(const struct symtab *symtab, uint64_t vaddr, struct arena *arena,
		 struct symbol *ret);

#endif
