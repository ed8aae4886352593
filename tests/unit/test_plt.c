#include "symbol/plt.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "built_elf.h"
#include "unit_test.h"

#include <stdlib.h>

enum { PLT = 0x10000, SLOT = 0x20018, NAME = 7 };

/* Returns the stubs of a file with one slot and this code as its .plt. */
static size_t stubs_of(uint16_t machine, const void *code, size_t len, struct plt_stub **ret)
{
	static struct built_elf file;
	const Elf64_Sym symbols[] = {{0}, {.st_name = NAME}};
	const Elf64_Rela relocation = {.r_offset = SLOT, .r_info = ELF64_R_INFO(1, 0)};
	CLEANUP(elf_file_cleanup) struct elf_file *elf = NULL;

	built_elf_init(&file);
	file.header.e_machine = machine;
	built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_DYNSYM}, ".dynsym", symbols,
			  sizeof(symbols));
	built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_RELA}, ".rela.plt", &relocation,
			  sizeof(relocation));
	built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_addr = PLT}, ".plt",
			  code, len);
	built_elf_finish(&file);
	assert_null(elf_file_from_memory(file.data, file.len, "file", &elf));
	*ret = NULL;
	return plt_stubs(elf, ret);
}

#define NOP 0xd503201f
#define BTI_C 0xd503245f
#define ADRP 0x90000090 /* x16, 0x20000 */
#define LDR 0xf9400e11	/* x17, [x16, #0x18] */
#define ADD 0x91006210	/* x16, x16, #0x18 */
#define AUTIA1716 0xd503219f
#define BR 0xd61f0220	/* x17 */
#define BRAA 0xd71f0a30 /* x17, x16 */

static const uint32_t aarch64_code[] = {NOP, NOP, ADRP, LDR};
/* Four bytes of padding, then endbr64; jmp *0x1000a(%rip). */
static const unsigned char x86_64_code[] = {0xcc, 0xcc, 0xcc, 0xcc, 0xf3, 0x0f, 0x1e,
					    0xfa, 0xff, 0x25, 0x0a, 0x00, 0x01, 0x00};

TEST(stubs_are_those_of_the_files_architecture)
{
	static const struct {
		uint16_t machine;
		const void *code;
		size_t len, stub;
	} files[] = {{EM_AARCH64, aarch64_code, sizeof(aarch64_code), 8},
		     {EM_X86_64, x86_64_code, sizeof(x86_64_code), 4}};

	for (size_t i = 0; i < 2; i++) {
		CLEANUP(free_ptr) struct plt_stub *stubs = NULL;

		assert_int_equal(stubs_of(files[i].machine, files[i].code, files[i].len, &stubs),
				 1);
		assert_int_equal(stubs[0].vaddr, PLT + files[i].stub);
		assert_int_equal(stubs[0].name, NAME);
	}
}

/* Stubs of GNU ld, lld and mold for -z now, force-bti and pac-plt. */
TEST(stubs_of_aarch64_are_found_with_any_protection)
{
	static const uint32_t codes[][7] = {
		{NOP, ADRP, LDR, ADD, BR},
		{NOP, BTI_C, ADRP, LDR, ADD, BR},
		{NOP, ADRP, LDR, ADD, AUTIA1716, BR},
		{NOP, BTI_C, ADRP, LDR, ADD, AUTIA1716, BR},
		{NOP, BTI_C, ADRP, LDR, BR},
		{NOP, ADRP, LDR, ADD, BRAA},
	};

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		CLEANUP(free_ptr) struct plt_stub *stubs = NULL;

		assert_int_equal(stubs_of(EM_AARCH64, codes[i], sizeof(codes[i]), &stubs), 1);
		assert_int_equal(stubs[0].vaddr, PLT + 4);
	}
}

TEST(stubs_of_another_architecture_are_not_looked_for)
{
	CLEANUP(free_ptr) struct plt_stub *stubs = NULL;

	assert_int_equal(stubs_of(EM_AARCH64, x86_64_code, sizeof(x86_64_code), &stubs), 0);
	assert_int_equal(stubs_of(EM_X86_64, aarch64_code, sizeof(aarch64_code), &stubs), 0);
	assert_int_equal(stubs_of(EM_RISCV, x86_64_code, sizeof(x86_64_code), &stubs), 0);
}
