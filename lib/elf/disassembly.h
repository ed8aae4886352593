/* Disassembles a range of an ELF file's code with capstone. */
#ifndef PROF_ELF_DISASSEMBLY_H
#define PROF_ELF_DISASSEMBLY_H

#include "elf/elf_file.h"

#include <stddef.h>

struct instruction {
	uint64_t vaddr;
	unsigned size_bytes;
	uint64_t target;  /* target of a direct jump or call, otherwise 0 */
	const char *text; /* "mov\trax, rbx" */
};

struct disassembly {
	/* Consecutive. Bytes that are not an instruction are a ".byte". */
	struct instruction *items;
	size_t count, room;
};

/*
 * Loads capstone before the process loses the permission to do so. Fails if
 * capstone is not installed or prof was built without it.
 */
MUST_CHECK struct error *disassembly_load(void);

/*
 * Fails like disassembly_load(), and for architectures that capstone or prof
 * does not support.
 */
MUST_CHECK struct error *disassembly_init(struct disassembly *disassembly,
					  const struct elf_file *elf, uint64_t vaddr,
					  uint64_t size_bytes, bool intel_syntax);
void disassembly_deinit(struct disassembly *disassembly);

#endif
