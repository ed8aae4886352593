/*
 * An object as a JIT compiler registers it with GDB's interface: a function "compiled" of 16 bytes,
 * in a section that has been loaded to an address.
 */
#ifndef PROF_TESTS_REGISTERED_OBJECT_H
#define PROF_TESTS_REGISTERED_OBJECT_H

#include <elf.h>
#include <stddef.h>
#include <string.h>

enum { OBJECT_TEXT = 1, OBJECT_SYMBOLS, OBJECT_STRINGS, OBJECT_SECTIONS };

enum { OBJECT_TEXT_BYTES = 16 };

struct registered_object {
	Elf64_Ehdr header;
	Elf64_Shdr sections[OBJECT_SECTIONS];
	Elf64_Sym symbols[2];
	unsigned char text[OBJECT_TEXT_BYTES];
	char strings[48];
};

static inline struct registered_object registered_object(uint64_t text_address)
{
	struct registered_object object = {
		.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
				       __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB
										 : ELFDATA2MSB},
			   .e_type = ET_REL,
			   .e_machine = EM_X86_64,
			   .e_shoff = offsetof(struct registered_object, sections),
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_shnum = OBJECT_SECTIONS,
			   .e_shstrndx = OBJECT_STRINGS},
		.symbols[1] = {.st_name = 1,
			       .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			       .st_shndx = OBJECT_TEXT,
			       .st_size = OBJECT_TEXT_BYTES},
		.strings = "\0compiled\0.text\0.symtab\0.strtab",
	};

	object.sections[OBJECT_TEXT] = (Elf64_Shdr){
		.sh_name = 10,
		.sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_addr = text_address,
		.sh_offset = offsetof(struct registered_object, text),
		.sh_size = OBJECT_TEXT_BYTES,
	};
	object.sections[OBJECT_SYMBOLS] = (Elf64_Shdr){
		.sh_name = 16,
		.sh_type = SHT_SYMTAB,
		.sh_link = OBJECT_STRINGS,
		.sh_entsize = sizeof(Elf64_Sym),
		.sh_offset = offsetof(struct registered_object, symbols),
		.sh_size = sizeof(object.symbols),
	};
	object.sections[OBJECT_STRINGS] = (Elf64_Shdr){
		.sh_name = 24,
		.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct registered_object, strings),
		.sh_size = sizeof(object.strings),
	};
	return object;
}

#endif
