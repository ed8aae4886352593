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

/* Borrowed. A missing section is empty. */
struct dwarf_sections {
	struct bytes of[DWARF_SECTION_COUNT];
};

struct elf_file;

/*
 * Decompresses all sections at the same time. It starts with .debug_info, which
 * takes longer than the others together.
 */
void dwarf_sections_unpack(struct elf_file *elf, elf_run *run, void *user);
struct dwarf_sections dwarf_sections_of(struct elf_file *elf);

/*
 * Returns the sections of split units in a .dwo or .dwp file
 * (".debug_info.dwo"). Source: DWARF 5, 7.3.2.
 */
struct dwarf_sections dwarf_split_sections_of(struct elf_file *elf);
/*
 * Adds the sections that a split unit shares with its skeleton unit. They are
 * in the skeleton's file because the linker must write them.
 */
void dwarf_split_sections_add(struct dwarf_sections *split, const struct dwarf_sections *skeleton);

/*
 * Returns a cursor from `offset` to the end of the section. The cursor is
 * failed if the offset is outside of the section.
 */
static inline struct bytes dwarf_section_at(const struct dwarf_sections *sections,
					    enum dwarf_section section, uint64_t offset)
{
	return bytes_at(sections->of[section], offset);
}

struct dwarf;

/*
 * Like dwarf_new(), for sections without an ELF file. `alt` may be NULL. Never
 * returns NULL.
 */
struct dwarf *dwarf_of_sections(const struct dwarf_sections *debug,
				const struct dwarf_sections *alt);

#endif
