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

/* The vaddrs of a section that holds code. */
struct elf_code {
	uint64_t start, end;
};

#endif
