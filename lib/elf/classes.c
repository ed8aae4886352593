#include "elf/classes.h"

static bool classes_take(struct bytes *from, void *into, size_t len)
{
	const void *at = bytes_take(from, len);

	if (at)
		memcpy(into, at, len);
	return at;
}

bool elf_take_header(struct bytes *from, Elf64_Ehdr *ret)
{
	struct bytes narrow_from = *from;
	Elf32_Ehdr narrow;

	*ret = (Elf64_Ehdr){0};
	if (!classes_take(&narrow_from, &narrow, sizeof(narrow)))
		return false;
	if (narrow.e_ident[EI_CLASS] != ELFCLASS32)
		return classes_take(from, ret, sizeof(*ret));
	*from = narrow_from;
	memcpy(ret->e_ident, narrow.e_ident, sizeof(ret->e_ident));
	ret->e_type = narrow.e_type;
	ret->e_machine = narrow.e_machine;
	ret->e_entry = narrow.e_entry;
	ret->e_phoff = narrow.e_phoff;
	ret->e_shoff = narrow.e_shoff;
	ret->e_phentsize = narrow.e_phentsize;
	ret->e_phnum = narrow.e_phnum;
	ret->e_shentsize = narrow.e_shentsize;
	ret->e_shnum = narrow.e_shnum;
	ret->e_shstrndx = narrow.e_shstrndx;
	return true;
}

bool elf_take_segment(struct bytes *from, bool is_32, Elf64_Phdr *ret)
{
	Elf32_Phdr narrow;

	if (!is_32)
		return classes_take(from, ret, sizeof(*ret));
	if (!classes_take(from, &narrow, sizeof(narrow)))
		return false;
	*ret = (Elf64_Phdr){
		.p_type = narrow.p_type,
		.p_flags = narrow.p_flags,
		.p_offset = narrow.p_offset,
		.p_vaddr = narrow.p_vaddr,
		.p_filesz = narrow.p_filesz,
		.p_memsz = narrow.p_memsz,
		.p_align = narrow.p_align,
	};
	return true;
}

bool elf_take_section(struct bytes *from, bool is_32, Elf64_Shdr *ret)
{
	Elf32_Shdr narrow;

	if (!is_32)
		return classes_take(from, ret, sizeof(*ret));
	if (!classes_take(from, &narrow, sizeof(narrow)))
		return false;
	*ret = (Elf64_Shdr){
		.sh_name = narrow.sh_name,
		.sh_type = narrow.sh_type,
		.sh_flags = narrow.sh_flags,
		.sh_addr = narrow.sh_addr,
		.sh_offset = narrow.sh_offset,
		.sh_size = narrow.sh_size,
		.sh_link = narrow.sh_link,
		.sh_info = narrow.sh_info,
		.sh_addralign = narrow.sh_addralign,
		.sh_entsize = narrow.sh_entsize,
	};
	return true;
}

bool elf_take_symbol(struct bytes *from, bool is_32, Elf64_Sym *ret)
{
	Elf32_Sym narrow;

	if (!is_32)
		return classes_take(from, ret, sizeof(*ret));
	if (!classes_take(from, &narrow, sizeof(narrow)))
		return false;
	*ret = (Elf64_Sym){
		.st_name = narrow.st_name,
		.st_info = narrow.st_info,
		.st_other = narrow.st_other,
		.st_shndx = narrow.st_shndx,
		.st_value = narrow.st_value,
		.st_size = narrow.st_size,
	};
	return true;
}
