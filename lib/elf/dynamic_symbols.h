/*
 * The dynamic symbol table of an ELF file as the dynamic linker finds it: through PT_DYNAMIC, also
 * where section headers are missing or wrong. Source: gABI, "Dynamic Section" and "Hash Table";
 * glibc, elf/dl-lookup.c, for DT_GNU_HASH.
 */
#ifndef PROF_ELF_DYNAMIC_SYMBOLS_H
#define PROF_ELF_DYNAMIC_SYMBOLS_H

#include "elf/elf_file.h"

struct elf_dynamic_symbols {
	struct bytes symbols, strings; /* as .dynsym and .dynstr; empty if there are none */
};

/*
 * Returns the sections .dynsym and .dynstr if they are what PT_DYNAMIC leads to, or if there is no
 * PT_DYNAMIC. Otherwise the number of symbols is that of the hash tables; without them, the symbols
 * end where the strings begin. Reads hash tables only then.
 */
struct elf_dynamic_symbols elf_dynamic_symbols(struct elf_file *elf);

#endif
