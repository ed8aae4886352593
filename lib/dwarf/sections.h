/* The DWARF sections of one file in memory. */
#ifndef PROF_DWARF_SECTIONS_H
#define PROF_DWARF_SECTIONS_H

#include "base/bytes.h"
#include "elf/section.h"

enum dwarf_section {
	DWARF_INFO,
	DWARF_ABBREV,
	DWARF_STR,
	DWARF_LINE_STR,
	DWARF_STR_OFFSETS,
	DWARF_ADDR,
	DWARF_RANGES,
	DWARF_RNGLISTS,
	DWARF_LINE,
	DWARF_SECTION_COUNT,
};

/* Borrowed; an absent section is empty. */
struct dwarf_sections {
	struct bytes of[DWARF_SECTION_COUNT];
};

struct elf_file;

/* Decompresses all at the same time; .debug_info first, which takes longer than the others
 * together. */
void dwarf_sections_unpack(struct elf_file *elf, elf_run *run, void *user);
struct dwarf_sections dwarf_sections_of(struct elf_file *elf);

/* The sections of split units in a .dwo or .dwp file (".debug_info.dwo"). Source: DWARF 5, 7.3.2.
 */
struct dwarf_sections dwarf_split_sections_of(struct elf_file *elf);
/*
 * The file of a skeleton unit has the sections that a linker must write; its split unit refers to
 * them. This adds them.
 */
void dwarf_split_sections_add(struct dwarf_sections *split, const struct dwarf_sections *skeleton);

/* A cursor from `offset` to the section's end; failed if the offset is outside. */
static inline struct bytes dwarf_section_at(const struct dwarf_sections *sections,
					    enum dwarf_section section, uint64_t offset)
{
	return bytes_at(sections->of[section], offset);
}

struct dwarf;

/* dwarf_new() for sections without an ELF file; never NULL. alt may be NULL. */
struct dwarf *dwarf_of_sections(const struct dwarf_sections *debug,
				const struct dwarf_sections *alt);

#endif
