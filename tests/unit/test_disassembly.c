#include "elf/disassembly.h"

#include "built_elf.h"
#include "lacking.h"
#include "unit_test.h"

enum { CODE_VADDR = 0x1000 };

static struct elf_file *elf_file_of_code(uint16_t machine, const void *code, size_t len)
{
	struct elf_file *image = NULL;
	struct built_elf file;

	built_elf_init(&file);
	file.header.e_machine = machine;
	built_elf_segment(&file, (Elf64_Phdr){.p_type = PT_LOAD,
					      .p_flags = PF_R | PF_X,
					      .p_offset = built_elf_bytes(&file, code, len),
					      .p_vaddr = CODE_VADDR,
					      .p_filesz = len,
					      .p_memsz = len});
	built_elf_finish(&file);
	assert_null(elf_file_from_memory(file.data, file.len, "test", &image));
	return image;
}

static void assert_targets(uint16_t machine, const void *code, size_t len, const uint64_t *targets,
			   size_t count)
{
	CLEANUP(elf_file_cleanup) struct elf_file *image = elf_file_of_code(machine, code, len);
	struct disassembly disassembly;
	struct error *err = disassembly_init(&disassembly, image, CODE_VADDR, len, false);

	if (err) {
		error_free(err);
		RETURN_LACKING("built without capstone");
	}
	assert_int_equal(disassembly.count, count);
	for (size_t i = 0; i < count; i++)
		if (disassembly.items[i].target != targets[i])
			fail_msg("%s leads to 0x%llx", disassembly.items[i].text,
				 (unsigned long long)disassembly.items[i].target);
	disassembly_deinit(&disassembly);
}

TEST(jumps_and_calls_on_x86_64_say_where_they_lead)
{
	static const uint8_t code[] = {
		0x74, 0x0e,		      /* je 0x1010 */
		0xe8, 0x09, 0x00, 0x00, 0x00, /* call 0x1010 */
		0xff, 0xd0,		      /* call *%rax */
		0x83, 0xc0, 0x10,	      /* add $0x10, %eax */
	};
	static const uint64_t targets[] = {0x1010, 0x1010, 0, 0};

	assert_targets(EM_X86_64, code, sizeof(code), targets, 4);
}

/* The number of a bit precedes the address. */
TEST(jumps_and_calls_on_aarch64_say_where_they_lead)
{
	static const uint32_t code[] = {
		0x368800c0, /* tbz w0, #17, 0x1018 */
		0xb40000a0, /* cbz x0, 0x1018 */
		0xd63f0100, /* blr x8 */
		0x54000060, /* b.eq 0x1018 */
		0x94000002, /* bl 0x1018 */
		0xb7400023, /* tbnz x3, #40, 0x1018 */
	};
	static const uint64_t targets[] = {0x1018, 0x1018, 0, 0x1018, 0x1018, 0x1018};

	assert_targets(EM_AARCH64, code, sizeof(code), targets, 6);
}
