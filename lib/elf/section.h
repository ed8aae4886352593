/* A section of an ELF file, as it is looked up. */
#ifndef PROF_ELF_SECTION_H
#define PROF_ELF_SECTION_H

#include "base/bytes.h"

struct elf_section {
	struct bytes data; /* decompressed; empty when it is absent, SHT_NOBITS or damaged */
	uint64_t vaddr;	   /* 0 when it is not loaded */
	bool present;
	/*
	 * Present, but damaged, or compressed with a method that this build of prof lacks (zstd).
	 */
	bool unreadable;
};

/* Calls work(context, i) for each i below count, at the same time if it can, and returns when all
 * are done. */
typedef void elf_run(void *user, size_t count, void (*work)(void *context, size_t i),
		     void *context);

/* The vaddrs of a section that holds code. */
struct elf_code {
	uint64_t start, end;
};

#endif
