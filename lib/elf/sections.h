/*
 * The sections of an ELF file: found by name, decompressed and relocated when they are asked for,
 * each once, within a budget.
 *
 * Headers and names are copied when the first section is looked up. A section cannot have more
 * bytes than the file has data. Not thread-safe. Source: elf(5); gABI (SHF_COMPRESSED); .zdebug_*
 * as older binutils wrote them.
 */
#ifndef PROF_ELF_SECTIONS_H
#define PROF_ELF_SECTIONS_H

#include "elf/elf_bytes.h"
#include "elf/section.h"
#include "elf/unpack_budget.h"

#include <elf.h>

/* Whether the relocations of a section were applied; private. */
enum elf_relocation { ELF_NOT_RELOCATED, ELF_RELOCATED, ELF_NOT_RELOCATABLE };

/* All private. */
struct elf_sections {
	const struct elf_bytes *bytes;
	const Elf64_Ehdr *header;
	bool is_32;
	bool are_loaded; /* else count is what the file says */
	Elf64_Shdr *headers;
	struct bytes *unpacked;		/* by section; empty: not used yet, or as in the file */
	enum elf_relocation *relocated; /* by section */
	size_t count, names_index;	/* the section with the names of all */
	void *names_memory;
	struct bytes names;

	struct unpack_budget *budget;	 /* NULL: its own, made when it is needed */
	struct unpack_budget own_budget; /* … */
	uint64_t unpacked_bytes;	 /* taken from it */
};

/* Borrows bytes and header. count and names_index: as the file says. */
void elf_sections_init(struct elf_sections *sections, const struct elf_bytes *bytes,
		       const Elf64_Ehdr *header, size_t count, size_t names_index);
void elf_sections_deinit(struct elf_sections *sections);

/* As elf_file_set_budget(). */
void elf_sections_set_budget(struct elf_sections *sections, struct unpack_budget *budget);
struct unpack_budget *elf_sections_budget(struct elf_sections *sections);
/* The file itself was decompressed: so many bytes of this budget are its own until it ends. */
void elf_sections_charge(struct elf_sections *sections, struct unpack_budget *budget,
			 uint64_t size_bytes);

/*
 * Reads section headers into *ret, which the caller frees: those of the first max_bytes. Returns
 * their number. Keeps nothing.
 */
size_t elf_sections_read_headers(const struct elf_sections *sections, struct elf_copies *copies,
				 size_t max_bytes, Elf64_Shdr **ret);

/* The functions of elf_file.h say what these do. */
void elf_sections_unpack(struct elf_sections *sections, const char *const *names, size_t count,
			 elf_run *run, void *user);
struct elf_section elf_sections_find(struct elf_sections *sections, const char *name);
bool elf_sections_find_next(struct elf_sections *sections, const char *name, size_t *index,
			    struct elf_section *ret);
bool elf_sections_has(struct elf_sections *sections, const char *name);
size_t elf_sections_code(struct elf_sections *sections, struct elf_code **ret);
bool elf_sections_is_data(struct elf_sections *sections, size_t index);
uint64_t elf_sections_symbol_vaddr(struct elf_sections *sections, const Elf64_Sym *symbol);

#endif
