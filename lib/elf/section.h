/* A section of an ELF file, as returned by a lookup. */
#ifndef PROF_ELF_SECTION_H
#define PROF_ELF_SECTION_H

#include "base/bytes.h"

struct elf_section {
	/*
	 * Decompressed. Empty if the section is missing, SHT_NOBITS or
	 * malformed.
	 */
	struct bytes data;
	uint64_t vaddr; /* 0 if it is not loaded */
	bool present;
	/*
	 * Present, but malformed, or compressed with a method that this build
	 * of prof lacks (zstd).
	 */
	bool unreadable;
};

/*
 * Calls work(context, i) for each i below count, concurrently if possible, and
 * returns when all calls are done.
 */
typedef void elf_run(void *user, size_t count, void (*work)(void *context, size_t i),
		     void *context);

/* The vaddrs of a section with code. */
struct elf_code {
	uint64_t start, end;
};

/* Returns the section that contains vaddr, or NULL if there is none. */
static inline const struct elf_code *elf_code_at(const struct elf_code *code, size_t count,
						 uint64_t vaddr)
{
	for (size_t i = 0; i < count; i++)
		if (vaddr >= code[i].start && vaddr < code[i].end)
			return &code[i];
	return NULL;
}

#endif
