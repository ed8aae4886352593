/*
 * Handles relocatable ELF files (ET_REL), such as kernel modules. Their
 * sections have no addresses yet, and their DWARF refers to code and to its own
 * sections through relocations. Source: gABI, "Relocation"; the psABIs of
 * x86-64 and AArch64.
 */
#ifndef PROF_ELF_RELOCATABLE_H
#define PROF_ELF_RELOCATABLE_H

#include "base/bytes.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Assigns consecutive addresses (sh_addr), starting at 1 MiB, to the sections
 * that are loaded. If a section has an address already, all keep theirs: the
 * file was loaded by a JIT compiler (proc/jit_image.h).
 */
void relocatable_lay_out(Elf64_Shdr *sections, size_t count);

/*
 * Returns the vaddr of a symbol after relocatable_lay_out(), or 0 if it is not
 * in a section.
 */
uint64_t relocatable_symbol(const Elf64_Sym *symbol, const Elf64_Shdr *sections, size_t count);

struct relocations {
	struct bytes entries; /* SHT_RELA */
	struct bytes symbols; /* SHT_SYMTAB */
	const Elf64_Shdr *sections;
	size_t section_count;
	uint16_t machine;
};

/*
 * Applies relocations to a section that is not loaded, so its address is 0.
 * Returns false if one is outside of the section or of an unknown kind; the
 * section must not be used then. Only for 64-bit files.
 */
bool relocatable_apply(const struct relocations *relocations, unsigned char *section, size_t len);

#endif
