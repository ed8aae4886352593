/*
 * Stubs of the procedure linkage table. Calls into other libraries pass through them, so they
 * occur in stacks, but no symbol names them. Source: System V ABI, AMD64 supplement, "Procedure
 * Linkage Table"; the same for the Arm 64-bit architecture.
 */
#ifndef PROF_SYMBOL_PLT_H
#define PROF_SYMBOL_PLT_H

#include "elf/elf_file.h"

#include <stddef.h>
#include <stdint.h>

struct plt_stub {
	uint64_t vaddr; /* ends where the next begins */
	uint32_t name;	/* of the function it calls: offset in .dynstr */
};

/* Returns the number of stubs; *ret, in no order, is for the caller to free. */
size_t plt_stubs(struct elf_file *elf, struct plt_stub **ret);

#endif
