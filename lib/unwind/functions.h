/*
 * Lists the start and end of the functions of a 64-bit file, from its .symtab or
 * that of its separate debug file, or else from .dynsym. For x86-64 code without
 * a .symtab, the targets of calls are added (called_functions.h).
 *
 * The table is private memory that is read once, in a thread of cfi_loader.h.
 * Source: gABI, "Symbol Table".
 */
#ifndef PROF_UNWIND_FUNCTIONS_H
#define PROF_UNWIND_FUNCTIONS_H

#include "elf/elf_file.h"

struct functions;

/*
 * Keeps at most a million functions. Returns NULL if there are none or the
 * tables are too large. `debug` is the separate debug file, or NULL.
 */
struct functions *functions_new(struct elf_file *elf, struct elf_file *debug);
void functions_free(struct functions *functions);

struct function_range {
	uint64_t start, end; /* vaddrs */
	/*
	 * The symbol has a size. Otherwise the function ends where the next one
	 * starts.
	 */
	bool is_sized;
	/* Found through calls: the real function may start or end elsewhere. */
	bool is_inferred;
};

/*
 * Returns false if no function covers the vaddr, or if it is in a part of a
 * function that is reached by jumps ("f.cold").
 */
bool functions_find(const struct functions *functions, uint64_t vaddr, struct function_range *ret);
size_t functions_memory_bytes(const struct functions *functions);

#endif
