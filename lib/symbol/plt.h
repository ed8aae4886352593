/*
 * The stubs of the procedure linkage table: calls into other libraries pass through them, so they
 * stand in stacks, but no symbol names them. Source: System V ABI, AMD64 supplement, "Procedure
 * Linkage Table"; the same of the Arm 64-bit architecture.
 */
#ifndef PROF_SYMBOL_PLT_H
#define PROF_SYMBOL_PLT_H

#include "elf/image.h"

#include <stddef.h>
#include <stdint.h>

struct plt_stub {
	uint64_t vaddr; /* it ends where the next begins */
	uint32_t name;	/* of the function it leads to: offset in .dynstr */
};

/* The number of stubs; *ret: in no order, to be freed. */
size_t plt_stubs(struct image *image, struct plt_stub **ret);

#endif
