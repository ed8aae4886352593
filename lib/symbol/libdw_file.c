#include "symbol/libdw_file.h"

#include "base/alloc.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

static const char *const section_names[LIBDW_SECTIONS] = {
	".debug_info", ".debug_types",	     ".debug_abbrev", ".debug_str",    ".debug_line_str",
	".debug_line", ".debug_str_offsets", ".debug_addr",   ".debug_ranges", ".debug_rnglists",
};

/*
 * Section 0 is empty, section 1 has the section names, and the sections above
 * follow.
 */
enum { NAMES_INDEX = 1, FIRST_INDEX = 2, SECTIONS = FIRST_INDEX + LIBDW_SECTIONS };
enum { LIBDW_FILE_NAME_BYTES_MAX = 24 };

/* The headers that libelf reads. */
struct image {
	Elf64_Ehdr header;
	Elf64_Shdr sections[SECTIONS];
	char names[(1 + LIBDW_SECTIONS) * LIBDW_FILE_NAME_BYTES_MAX];
};

struct libdw_file {
	struct image image;
	Elf *elf;
	Dwarf *dwarf;
};

struct libdw_sections libdw_sections_of(struct elf_file *elf)
{
	struct libdw_sections sections = {0};

	for (size_t i = 0; i < LIBDW_SECTIONS; i++) {
		sections.of[i] = elf_file_section(elf, section_names[i]).data;
		if (!strcmp(section_names[i], ".debug_ranges") ||
		    !strcmp(section_names[i], ".debug_rnglists"))
			sections.range_bytes += bytes_left(&sections.of[i]);
	}
	return sections;
}

static void write_headers(struct image *image)
{
	const unsigned char order = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;

	*image = (struct image){
		.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, order,
				       EV_CURRENT},
			   .e_type = ET_EXEC,
			   .e_version = EV_CURRENT,
			   .e_shoff = offsetof(struct image, sections),
			   .e_ehsize = sizeof(Elf64_Ehdr),
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_shnum = SECTIONS,
			   .e_shstrndx = NAMES_INDEX},
	};
	image->sections[NAMES_INDEX] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
						    .sh_offset = offsetof(struct image, names),
						    .sh_size = sizeof(image->names)};
	for (uint32_t i = 0; i < LIBDW_SECTIONS; i++) {
		uint32_t name = (1 + i) * LIBDW_FILE_NAME_BYTES_MAX;

		image->sections[FIRST_INDEX + i] =
			(Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_name = name, .sh_addralign = 1};
		strncpy(&image->names[name], section_names[i], LIBDW_FILE_NAME_BYTES_MAX - 1);
	}
}

/*
 * Sets the contents of sections, which are empty before. The data stays where
 * it is.
 */
static bool set_contents(Elf *elf, const struct libdw_sections *sections)
{
	for (size_t i = 0; i < LIBDW_SECTIONS; i++) {
		struct bytes section = sections->of[i];
		Elf_Scn *scn = elf_getscn(elf, FIRST_INDEX + i);
		Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;

		if (!data)
			return false;
		data->d_buf = (void *)(uintptr_t)section.at;
		data->d_size = bytes_left(&section);
	}
	return true;
}

struct libdw_file *libdw_file_open(const struct libdw_sections *sections)
{
	struct libdw_file *file = xcalloc(1, sizeof(*file));

	elf_version(EV_CURRENT);
	write_headers(&file->image);
	file->elf = elf_memory((char *)&file->image, sizeof(file->image));
	if (file->elf && set_contents(file->elf, sections))
		file->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	if (file->dwarf)
		return file;
	libdw_file_close(file);
	return NULL;
}

void libdw_file_close(struct libdw_file *file)
{
	if (!file)
		return;
	dwarf_end(file->dwarf);
	elf_end(file->elf);
	free(file);
}

Dwarf *libdw_file_dwarf(const struct libdw_file *file)
{
	return file ? file->dwarf : NULL;
}
