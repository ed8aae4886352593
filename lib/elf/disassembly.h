/*
 * capstone's one door: the instructions of a piece of an image's code.
 */
#ifndef PROF_ELF_DISASSEMBLY_H
#define PROF_ELF_DISASSEMBLY_H

#include "elf/image.h"

#include <stddef.h>

struct instruction {
	uint64_t vaddr;
	unsigned size_bytes;
	uint64_t target;  /* where it jumps or calls to, as far as it says so itself; else 0 */
	const char *text; /* "mov\trax, rbx" */
};

struct disassembly {
	struct instruction *items; /* one behind the other; what is no instruction is a ".byte" */
	size_t count, room;
};

/* Fails for machines and code that are not known here, and where prof was built without capstone.
 */
MUST_CHECK struct error *disassembly_init(struct disassembly *disassembly,
					  const struct image *image, uint64_t vaddr,
					  uint64_t size_bytes, bool intel_syntax);
void disassembly_deinit(struct disassembly *disassembly);

#endif
