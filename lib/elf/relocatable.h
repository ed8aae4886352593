/*
 * Relocatable ELF files (ET_REL), which kernel modules are: their sections have no addresses yet,
 * and their DWARF refers to code and to its own sections by relocations. Source: gABI,
 * "Relocation"; the psABIs of x86-64 and AArch64.
 */
#ifndef PROF_ELF_RELOCATABLE_H
#define PROF_ELF_RELOCATABLE_H

#include "base/bytes.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Gives the sections that are loaded addresses (sh_addr) one after the other, from 1 MiB on. A file
 * in which one has an address keeps all of them: a JIT compiler has loaded it (proc/jit_image.h).
 */
void relocatable_lay_out(Elf64_Shdr *sections, size_t count);

/* The vaddr of a symbol in a file that is laid out; 0 if it is in no section. */
uint64_t relocatable_symbol(const Elf64_Sym *symbol, const Elf64_Shdr *sections, size_t count);

struct relocations {
	struct bytes entries; /* SHT_RELA */
	struct bytes symbols; /* SHT_SYMTAB */
	const Elf64_Shdr *sections;
	size_t section_count;
	uint16_t machine;
};

/*
 * Applies them to a section that is not loaded: its address is 0. False if one is outside the
 * section or of a kind that is not known; the section is of no use then. Only of 64-bit files.
 */
bool relocatable_apply(const struct relocations *relocations, unsigned char *section, size_t len);

#endif
