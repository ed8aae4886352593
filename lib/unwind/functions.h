/*
 * Where the functions of a file begin and end, from its symbol table: .symtab, else .dynsym; in
 * x86-64 code also from its calls (called_functions.h), unless there is a .symtab. The table is
 * private memory, read once; it is made in a thread of cfi_loader.h. Of 64-bit files. Source: gABI,
 * "Symbol Table".
 */
#ifndef PROF_UNWIND_FUNCTIONS_H
#define PROF_UNWIND_FUNCTIONS_H

#include "elf/elf_file.h"

struct functions;

/* Those after the first million are left out. NULL: there are none, or the tables are too large. */
struct functions *functions_new(struct elf_file *elf);
void functions_free(struct functions *functions);

struct function_range {
	uint64_t start, end; /* vaddrs */
	bool is_sized;	     /* the symbol says the end; else the next function begins there */
	bool is_inferred;    /* from calls: the function may begin or end elsewhere */
};

/* False if the vaddr is in none, or in a part of one that jumps lead to ("f.cold"). */
bool functions_find(const struct functions *functions, uint64_t vaddr, struct function_range *ret);
size_t functions_memory_bytes(const struct functions *functions);

#endif
