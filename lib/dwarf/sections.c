#include "dwarf/sections.h"

#include "elf/elf_file.h"

/* Looks up the sections that have a name. */
static struct dwarf_sections read_sections(struct elf_file *elf,
					   const char *const names[DWARF_SECTION_COUNT])
{
	struct dwarf_sections sections = {0};

	for (unsigned i = 0; i < DWARF_SECTION_COUNT; i++)
		if (names[i])
			sections.of[i] = elf_file_section(elf, names[i]).data;
	return sections;
}

static const char *const names_of_all[DWARF_SECTION_COUNT] = {
	[DWARF_INFO] = ".debug_info",
	[DWARF_ABBREV] = ".debug_abbrev",
	[DWARF_STR] = ".debug_str",
	[DWARF_LINE_STR] = ".debug_line_str",
	[DWARF_STR_OFFSETS] = ".debug_str_offsets",
	[DWARF_ADDR] = ".debug_addr",
	[DWARF_RANGES] = ".debug_ranges",
	[DWARF_RNGLISTS] = ".debug_rnglists",
	[DWARF_LINE] = ".debug_line",
};

void dwarf_sections_unpack(struct elf_file *elf, elf_run *run, void *user)
{
	elf_file_unpack(elf, names_of_all, DWARF_SECTION_COUNT, run, user);
}

struct dwarf_sections dwarf_sections_of(struct elf_file *elf)
{
	return read_sections(elf, names_of_all);
}

/*
 * Does not include .debug_line.dwo, which contains only the files of type
 * units.
 */
struct dwarf_sections dwarf_split_sections_of(struct elf_file *elf)
{
	static const char *const names[DWARF_SECTION_COUNT] = {
		[DWARF_INFO] = ".debug_info.dwo",
		[DWARF_ABBREV] = ".debug_abbrev.dwo",
		[DWARF_STR] = ".debug_str.dwo",
		[DWARF_STR_OFFSETS] = ".debug_str_offsets.dwo",
		[DWARF_RNGLISTS] = ".debug_rnglists.dwo",
	};

	return read_sections(elf, names);
}

void dwarf_split_sections_add(struct dwarf_sections *split, const struct dwarf_sections *skeleton)
{
	static const enum dwarf_section linked[] = {DWARF_ADDR, DWARF_RANGES, DWARF_LINE,
						    DWARF_LINE_STR};

	for (unsigned i = 0; i < sizeof(linked) / sizeof(*linked); i++)
		split->of[linked[i]] = skeleton->of[linked[i]];
}
