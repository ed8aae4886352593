#include "elf/relocatable.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <stdint.h>
#include <string.h>

enum { TEXT = 1, INIT_TEXT, DEBUG, SECTIONS };

static const Elf64_Shdr file_sections[SECTIONS] = {
	[TEXT] = {.sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_size = 0x123, .sh_addralign = 16},
	[INIT_TEXT] = {.sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_size = 0x10, .sh_addralign = 64},
	[DEBUG] = {.sh_size = 0x40, .sh_addr = 0x77},
};

/* Symbol 1 is 8 bytes into .init.text, 2 is the section .debug_str, 3 is
 * undefined, 4 is absolute. */
static const Elf64_Sym symbols[] = {
	{0},
	{.st_shndx = INIT_TEXT, .st_value = 8},
	{.st_shndx = DEBUG},
	{.st_shndx = SHN_UNDEF, .st_value = 99},
	{.st_shndx = SHN_ABS, .st_value = 0x1234},
};

struct fixture {
	Elf64_Shdr sections[SECTIONS];
	unsigned char section[16];
};

static struct fixture laid_out(void)
{
	struct fixture fixture = {0};

	memcpy(fixture.sections, file_sections, sizeof(file_sections));
	relocatable_lay_out(fixture.sections, SECTIONS);
	return fixture;
}

static bool apply(struct fixture *fixture, uint16_t machine, const Elf64_Rela *entry)
{
	const struct relocations relocations = {
		.entries = bytes_of((const unsigned char *)entry, sizeof(*entry)),
		.symbols = bytes_of((const unsigned char *)symbols, sizeof(symbols)),
		.sections = fixture->sections,
		.section_count = SECTIONS,
		.machine = machine,
	};

	return relocatable_apply(&relocations, fixture->section, sizeof(fixture->section));
}

static uint64_t number_at(const struct fixture *fixture, size_t at, size_t len)
{
	uint64_t number = 0;

	memcpy(&number, fixture->section + at, len);
	return number;
}

TEST(loaded_sections_get_places_that_do_not_overlap)
{
	struct fixture fixture = laid_out();
	const Elf64_Shdr *text = &fixture.sections[TEXT], *init = &fixture.sections[INIT_TEXT];

	assert_true(text->sh_addr > 0);
	assert_int_equal(text->sh_addr % 16, 0);
	assert_int_equal(init->sh_addr % 64, 0);
	assert_true(init->sh_addr >= text->sh_addr + text->sh_size);
	assert_int_equal(fixture.sections[DEBUG].sh_addr, 0);
}

TEST(values_are_of_the_layout)
{
	static const struct {
		uint16_t machine;
		uint32_t type;
		size_t len;
	} absolute[] = {
		{EM_X86_64, R_X86_64_64, 8},	  {EM_X86_64, R_X86_64_32, 4},
		{EM_X86_64, R_X86_64_32S, 4},	  {EM_AARCH64, R_AARCH64_ABS64, 8},
		{EM_AARCH64, R_AARCH64_ABS32, 4},
	};

	for (size_t i = 0; i < ARRAY_SIZE(absolute); i++) {
		struct fixture fixture = laid_out();
		const Elf64_Rela entry = {
			.r_offset = 3, .r_info = ELF64_R_INFO(1, absolute[i].type), .r_addend = -2};

		assert_true(apply(&fixture, absolute[i].machine, &entry));
		assert_int_equal(number_at(&fixture, 3, absolute[i].len),
				 fixture.sections[INIT_TEXT].sh_addr + 8 - 2);
		assert_int_equal(fixture.section[3 + absolute[i].len], 0);
	}
}

TEST(symbols_of_debug_sections_count_from_their_start)
{
	struct fixture fixture = laid_out();

	assert_true(apply(&fixture, EM_X86_64,
			  &(Elf64_Rela){.r_info = ELF64_R_INFO(2, R_X86_64_32), .r_addend = 5}));
	assert_int_equal(number_at(&fixture, 0, 4), 5);
	assert_true(apply(&fixture, EM_X86_64,
			  &(Elf64_Rela){.r_info = ELF64_R_INFO(3, R_X86_64_32), .r_addend = 6}));
	assert_int_equal(number_at(&fixture, 0, 4), 6);
	assert_true(apply(&fixture, EM_X86_64,
			  &(Elf64_Rela){.r_info = ELF64_R_INFO(4, R_X86_64_32), .r_addend = 1}));
	assert_int_equal(number_at(&fixture, 0, 4), 0x1235);
}

TEST(relative_values_count_from_their_place)
{
	struct fixture fixture = laid_out();

	assert_true(apply(&fixture, EM_X86_64,
			  &(Elf64_Rela){.r_offset = 4, .r_info = ELF64_R_INFO(4, R_X86_64_PC32)}));
	assert_int_equal(number_at(&fixture, 4, 4), 0x1234 - 4);
}

TEST(what_is_outside_or_unknown_makes_the_section_useless)
{
	static const Elf64_Rela wrong[] = {
		{.r_offset = 13, .r_info = ELF64_R_INFO(1, R_X86_64_32)},
		{.r_offset = 9, .r_info = ELF64_R_INFO(1, R_X86_64_64)},
		{.r_offset = UINT64_MAX - 1, .r_info = ELF64_R_INFO(1, R_X86_64_32)},
		{.r_info = ELF64_R_INFO(5, R_X86_64_32)},
		{.r_info = ELF64_R_INFO(UINT32_MAX, R_X86_64_32)},
		{.r_info = ELF64_R_INFO(1, R_X86_64_GOTPCREL)},
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct fixture fixture = laid_out();

		assert_false(apply(&fixture, EM_X86_64, &wrong[i]));
	}
}

TEST(sections_that_lie_about_their_size_have_no_place)
{
	Elf64_Shdr sections[] = {
		{.sh_flags = SHF_ALLOC, .sh_size = UINT64_MAX},
		{.sh_flags = SHF_ALLOC, .sh_size = 1, .sh_addralign = UINT64_MAX},
		{.sh_flags = SHF_ALLOC, .sh_size = 1, .sh_addr = 7},
	};

	relocatable_lay_out(sections, ARRAY_SIZE(sections));
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		assert_true(sections[i].sh_addr < UINT64_C(1) << 41);
}
