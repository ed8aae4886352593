/*
 * Makes ELF files for tests, as small and as wrong as a test needs them.
 *
 *	struct built_elf file;
 *
 *	built_elf_init(&file);
 *	built_elf_segment(&file, (Elf64_Phdr){.p_type = PT_LOAD, ...});
 *	built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, ".text", code,
 *			  sizeof(code));
 *	built_elf_finish(&file);		// file.data, file.len
 */
#ifndef PROF_TESTS_ELF_FILE_H
#define PROF_TESTS_ELF_FILE_H

#include <assert.h>
#include <elf.h>
#include <stdint.h>
#include <string.h>

enum { ELF_FILE_SEGMENTS = 8, ELF_FILE_SECTIONS = 16 };

struct built_elf {
	_Alignas(8) unsigned char data[64 << 10];
	size_t len;
	Elf64_Ehdr header;
	Elf64_Phdr segments[ELF_FILE_SEGMENTS];
	Elf64_Shdr sections[ELF_FILE_SECTIONS];
	char names[512];
	size_t names_len;
};

static inline void built_elf_init(struct built_elf *file)
{
	memset(file, 0, sizeof(*file));
	file->header = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 1,
	};
	file->len = sizeof(Elf64_Ehdr) + sizeof(file->segments);
	file->names_len = 1;
}

/* Adds bytes and returns their offset in the file. */
static inline uint64_t built_elf_bytes(struct built_elf *file, const void *data, size_t len)
{
	uint64_t offset = file->len;

	assert(file->len + len + 8 <= sizeof(file->data));
	if (len)
		memcpy(file->data + offset, data, len);
	file->len = (file->len + len + 7) / 8 * 8;
	return offset;
}

static inline void built_elf_segment(struct built_elf *file, Elf64_Phdr segment)
{
	assert(file->header.e_phnum < ELF_FILE_SEGMENTS);
	file->segments[file->header.e_phnum++] = segment;
}

/* Fills in offset, size and name. Returns the header, so that a test can damage
 * it. */
static inline Elf64_Shdr *built_elf_section(struct built_elf *file, Elf64_Shdr section,
					    const char *name, const void *data, size_t len)
{
	size_t name_len = strlen(name) + 1;

	assert(file->header.e_shnum < ELF_FILE_SECTIONS);
	assert(file->names_len + name_len <= sizeof(file->names));
	section.sh_name = (Elf64_Word)file->names_len;
	memcpy(file->names + file->names_len, name, name_len);
	file->names_len += name_len;
	section.sh_offset = built_elf_bytes(file, data, len);
	section.sh_size = len;
	file->sections[file->header.e_shnum] = section;
	return &file->sections[file->header.e_shnum++];
}

static inline void built_elf_finish(struct built_elf *file)
{
	Elf64_Ehdr *header = &file->header;
	Elf64_Shdr *names = built_elf_section(file, (Elf64_Shdr){.sh_type = SHT_STRTAB},
					      ".shstrtab", NULL, 0);

	names->sh_size = file->names_len;
	names->sh_offset = built_elf_bytes(file, file->names, file->names_len);
	header->e_shstrndx = (Elf64_Half)(header->e_shnum - 1);
	header->e_shoff = built_elf_bytes(file, file->sections,
					  header->e_shnum * sizeof(Elf64_Shdr));
	memcpy(file->data, header, sizeof(*header));
	memcpy(file->data + header->e_phoff, file->segments, sizeof(file->segments));
}

/* Stores a GNU build-id note in note and returns its length. */
static inline size_t built_elf_build_id(unsigned char note[80], const void *id, size_t len)
{
	const Elf64_Nhdr header = {.n_namesz = sizeof(ELF_NOTE_GNU),
				   .n_descsz = (Elf64_Word)len,
				   .n_type = NT_GNU_BUILD_ID};

	memset(note, 0, 80);
	memcpy(note, &header, sizeof(header));
	memcpy(note + sizeof(header), ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU));
	memcpy(note + sizeof(header) + sizeof(ELF_NOTE_GNU), id, len);
	return sizeof(header) + sizeof(ELF_NOTE_GNU) + (len + 3) / 4 * 4;
}

#endif
