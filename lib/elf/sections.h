/*
 * The sections of an ELF file. They are found by name, and decompressed and
 * relocated on demand, each once, within a budget.
 *
 * The first lookup copies headers and names. A section cannot have more bytes
 * than the file has data. Not thread-safe. Source: elf(5); gABI
 * (SHF_COMPRESSED); .zdebug_* as written by older binutils.
 */
#ifndef PROF_ELF_SECTIONS_H
#define PROF_ELF_SECTIONS_H

#include "elf/elf_bytes.h"
#include "elf/section.h"
#include "elf/unpack_budget.h"

#include <elf.h>

/* Whether the relocations of a section were applied. Private. */
enum elf_relocation { ELF_NOT_RELOCATED, ELF_RELOCATED, ELF_NOT_RELOCATABLE };

/* All members are private. */
struct elf_sections {
	const struct elf_bytes *bytes;
	const Elf64_Ehdr *header;
	bool is_32;
	bool are_loaded; /* otherwise `count` is the unverified number in the file */
	Elf64_Shdr *headers;
	struct bytes *unpacked;		/* by section; empty if it is unused or not compressed */
	enum elf_relocation *relocated; /* by section */
	size_t count, names_index;	/* number of the section with the names */
	void *names_memory;
	struct bytes names;

	struct unpack_budget *budget;	 /* NULL to use own_budget */
	struct unpack_budget own_budget; /* initialized on demand */
	uint64_t unpacked_bytes;	 /* taken from the budget */
};

/*
 * Borrows `bytes` and `header`. `count` and `names_index` are the unverified
 * values in the file.
 */
void elf_sections_init(struct elf_sections *sections, const struct elf_bytes *bytes,
		       const Elf64_Ehdr *header, size_t count, size_t names_index);
void elf_sections_deinit(struct elf_sections *sections);

/* Like elf_file_set_budget(). */
void elf_sections_set_budget(struct elf_sections *sections, struct unpack_budget *budget);
struct unpack_budget *elf_sections_budget(struct elf_sections *sections);
/*
 * For a file that was itself decompressed: its size remains charged to this
 * budget until the file is freed.
 */
void elf_sections_charge(struct elf_sections *sections, struct unpack_budget *budget,
			 uint64_t size_bytes);

/*
 * Reads the section headers, at most max_bytes of them, into *ret, which the
 * caller frees. Returns their number. Stores nothing in `sections`.
 */
size_t elf_sections_read_headers(const struct elf_sections *sections, struct elf_copies *copies,
				 size_t max_bytes, Elf64_Shdr **ret);

/* See the functions with similar names in elf_file.h. */
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
