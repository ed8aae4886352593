/*
 * Finds the stubs of the procedure linkage table (PLT). Calls into other
 * libraries pass through them, so they occur in stacks, but they have no
 * symbols. Source: System V ABI, AMD64 supplement, "Procedure Linkage Table";
 * the corresponding section for the Arm 64-bit architecture.
 */
#ifndef PROF_SYMBOL_PLT_H
#define PROF_SYMBOL_PLT_H

#include "elf/elf_file.h"

#include <stddef.h>
#include <stdint.h>

struct plt_stub {
	uint64_t vaddr; /* a stub ends where the next one starts */
	uint32_t name;	/* offset in .dynstr of the called function's name */
};

/* Returns the number of stubs. *ret is unsorted; the caller frees it. */
size_t plt_stubs(struct elf_file *elf, struct plt_stub **ret);

#endif
