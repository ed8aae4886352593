#include "elf/relocatable.h"

#include "elf/classes.h"

#include <string.h>

/* Not 0, which linkers write as the address of removed functions. */
#define FIRST_VADDR (UINT64_C(1) << 20)

/*
 * Sections that would end above this address have an invalid size or alignment
 * and get no address.
 */
#define LAST_VADDR (UINT64_C(1) << 40)

static bool has_addresses(const Elf64_Shdr *sections, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (sections[i].sh_flags & SHF_ALLOC && sections[i].sh_addr)
			return true;
	return false;
}

void relocatable_lay_out(Elf64_Shdr *sections, size_t count)
{
	uint64_t vaddr = FIRST_VADDR;

	if (has_addresses(sections, count))
		return;
	for (size_t i = 0; i < count; i++) {
		Elf64_Shdr *section = &sections[i];
		uint64_t align = section->sh_addralign ? section->sh_addralign : 1;

		section->sh_addr = 0;
		if (!(section->sh_flags & SHF_ALLOC) || align > LAST_VADDR ||
		    section->sh_size > LAST_VADDR || vaddr > LAST_VADDR)
			continue;
		vaddr = (vaddr + align - 1) / align * align;
		section->sh_addr = vaddr;
		vaddr += section->sh_size;
	}
}

uint64_t relocatable_symbol(const Elf64_Sym *symbol, const Elf64_Shdr *sections, size_t count)
{
	if (symbol->st_shndx == SHN_ABS)
		return symbol->st_value;
	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= count)
		return 0;
	return sections[symbol->st_shndx].sh_addr + symbol->st_value;
}

/*
 * The effect of a relocation: how many bytes it writes, and whether the value
 * is relative to their place.
 */
struct action {
	uint8_t bytes; /* 0 if it does nothing */
	bool is_relative;
};

static bool action_of(uint16_t machine, uint32_t type, struct action *ret)
{
	static const struct {
		uint16_t machine;
		uint32_t type;
		struct action action;
	} known[] = {
		{EM_X86_64, R_X86_64_NONE, {0, false}},
		{EM_X86_64, R_X86_64_64, {8, false}},
		{EM_X86_64, R_X86_64_32, {4, false}},
		{EM_X86_64, R_X86_64_32S, {4, false}},
		{EM_X86_64, R_X86_64_PC32, {4, true}},
		{EM_X86_64, R_X86_64_PC64, {8, true}},
		{EM_AARCH64, R_AARCH64_NONE, {0, false}},
		{EM_AARCH64, R_AARCH64_ABS64, {8, false}},
		{EM_AARCH64, R_AARCH64_ABS32, {4, false}},
		{EM_AARCH64, R_AARCH64_PREL32, {4, true}},
		{EM_AARCH64, R_AARCH64_PREL64, {8, true}},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].machine == machine && known[i].type == type) {
			*ret = known[i].action;
			return true;
		}
	return false;
}

static bool relocatable_apply_one(const struct relocations *relocations, const Elf64_Rela *entry,
				  unsigned char *section, size_t len)
{
	struct bytes at = bytes_at(relocations->symbols,
				   ELF64_R_SYM(entry->r_info) * sizeof(Elf64_Sym));
	struct action action;
	Elf64_Sym symbol;
	uint64_t value;

	if (!action_of(relocations->machine, ELF64_R_TYPE(entry->r_info), &action) ||
	    action.bytes > len || entry->r_offset > len - action.bytes ||
	    !elf_take_symbol(&at, false, &symbol))
		return false;
	value = relocatable_symbol(&symbol, relocations->sections, relocations->section_count) +
		(uint64_t)entry->r_addend;
	if (action.is_relative)
		value -= entry->r_offset;
	/* Keeps the low-order bytes. The file has this machine's byte order. */
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ && action.bytes)
		value <<= 64 - 8 * action.bytes;
	memcpy(section + entry->r_offset, &value, action.bytes);
	return true;
}

bool relocatable_apply(const struct relocations *relocations, unsigned char *section, size_t len)
{
	struct bytes entries = relocations->entries;

	while (bytes_left(&entries)) {
		Elf64_Rela entry = {0};

		entry.r_offset = bytes_u64(&entries);
		entry.r_info = bytes_u64(&entries);
		entry.r_addend = (int64_t)bytes_u64(&entries);
		if (!bytes_ok(&entries) ||
		    !relocatable_apply_one(relocations, &entry, section, len))
			return false;
	}
	return true;
}
