/*
 * Finds the dynamic symbol table of an ELF file like the dynamic linker,
 * through PT_DYNAMIC. This works even if section headers are missing or wrong.
 * Source: gABI, "Dynamic Section" and "Hash Table"; glibc, elf/dl-lookup.c, for
 * DT_GNU_HASH.
 */
#ifndef PROF_ELF_DYNAMIC_SYMBOLS_H
#define PROF_ELF_DYNAMIC_SYMBOLS_H

#include "elf/elf_file.h"

struct elf_dynamic_symbols {
	struct bytes symbols, strings; /* as .dynsym and .dynstr; empty if there are none */
};

/*
 * Returns the sections .dynsym and .dynstr if PT_DYNAMIC leads to them or if
 * there is no PT_DYNAMIC. Otherwise the hash tables, which are read only in
 * this case, provide the number of symbols. Without hash tables, the symbols
 * end where the strings start.
 */
struct elf_dynamic_symbols elf_dynamic_symbols(struct elf_file *elf);

#endif
