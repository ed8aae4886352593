#include "symbol/function_starts.h"

#include "base/alloc.h"

#include "built_elf.h"
#include "unit_test.h"

enum { TABLE_VADDR = 0x1000 };

/* A CIE, and the FDEs for [0x4a00, 0x4a40) and [0x4a80, 0x4b00). Addresses are
 * absolute. */
static const uint8_t table[] = {
	/* clang-format off */
	0x0c, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 0x10, 0, 0, 0,
	0x14, 0, 0, 0, 0x14, 0, 0, 0, 0, 0x4a, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0,
	0x14, 0, 0, 0, 0x2c, 0, 0, 0, 0x80, 0x4a, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 0,
	/* clang-format on */
};

static struct elf_file *file_of(uint16_t machine)
{
	struct built_elf file;
	struct elf_file *elf = NULL;

	built_elf_init(&file);
	file.header.e_machine = machine;
	built_elf_section(&file,
			  (Elf64_Shdr){.sh_type = SHT_PROGBITS,
				       .sh_flags = SHF_ALLOC,
				       .sh_addr = TABLE_VADDR},
			  ".eh_frame", table, sizeof(table));
	built_elf_finish(&file);
	assert_null(elf_file_from_memory(file.data, file.len, "stripped", &elf));
	return elf;
}

TEST(an_address_is_in_the_function_whose_entry_covers_it)
{
	static const struct {
		uint64_t vaddr, start, end;
	} cases[] = {
		{0x49ff, 0, 0}, {0x4a00, 0x4a00, 0x4a40}, {0x4a3f, 0x4a00, 0x4a40}, {0x4a40, 0, 0},
		{0x4a7f, 0, 0}, {0x4a80, 0x4a80, 0x4b00}, {0x4aff, 0x4a80, 0x4b00}, {0x4b00, 0, 0},
		{0, 0, 0},	{UINT64_MAX, 0, 0},
	};
	CLEANUP(elf_file_cleanup) struct elf_file *elf = file_of(EM_X86_64);
	CLEANUP(function_starts_cleanup)
	struct function_starts *starts = function_starts_new(elf, NULL);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t start = 0, end = 0;

		assert_int_equal(function_starts_find(starts, cases[i].vaddr, &start, &end),
				 cases[i].end != 0);
		assert_int_equal(start, cases[i].start);
		assert_int_equal(end, cases[i].end);
	}
}

TEST(other_architectures_have_no_starts)
{
	CLEANUP(elf_file_cleanup) struct elf_file *elf = file_of(EM_RISCV);

	assert_null(function_starts_new(elf, NULL));
}
