/*
 * Reads ELF structures of either class and converts them to the 64-bit ones.
 * Source: gABI; elf(5).
 *
 * Each function takes one structure from the cursor. It returns false if the
 * cursor does not contain a complete one.
 */
#ifndef PROF_ELF_CLASSES_H
#define PROF_ELF_CLASSES_H

#include "base/bytes.h"

#include <elf.h>

bool elf_take_header(struct bytes *from, Elf64_Ehdr *ret); /* e_ident contains the class */
bool elf_take_segment(struct bytes *from, bool is_32, Elf64_Phdr *ret);
bool elf_take_section(struct bytes *from, bool is_32, Elf64_Shdr *ret);
bool elf_take_symbol(struct bytes *from, bool is_32, Elf64_Sym *ret);

static inline bool elf_is_32(const Elf64_Ehdr *header)
{
	return header->e_ident[EI_CLASS] == ELFCLASS32;
}

static inline size_t elf_segment_bytes(bool is_32)
{
	return is_32 ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
}

static inline size_t elf_section_bytes(bool is_32)
{
	return is_32 ? sizeof(Elf32_Shdr) : sizeof(Elf64_Shdr);
}

static inline size_t elf_symbol_bytes(bool is_32)
{
	return is_32 ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
}

#endif
