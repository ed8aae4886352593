#include "elf/disassembly.h"

#include "base/alloc.h"

#include <stdlib.h>

#ifdef HAVE_CAPSTONE

#include <capstone/capstone.h>
#include <elf.h>
#include <string.h>

static struct error *open_engine(const struct image *image, bool intel_syntax, csh *ret)
{
	/* e_machine stands at the same place in files of both classes. */
	struct bytes header = bytes_at(image_contents(image), EI_NIDENT + sizeof(uint16_t));
	uint16_t machine = bytes_u16(&header);
	cs_err status = CS_ERR_ARCH;

	if (machine == EM_X86_64)
		status = cs_open(CS_ARCH_X86, CS_MODE_64, ret);
	else if (machine == EM_AARCH64)
		status = cs_open(CS_ARCH_ARM64, CS_MODE_ARM, ret);
	if (status != CS_ERR_OK)
		return error_new("disassemble %s: %s", image_name(image), cs_strerror(status));
	cs_option(*ret, CS_OPT_DETAIL, CS_OPT_ON);
	cs_option(*ret, CS_OPT_SKIPDATA, CS_OPT_ON);
	if (machine == EM_X86_64 && !intel_syntax)
		cs_option(*ret, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	return NULL;
}

/* The address at the end of "0x401230" or "x0, #0x1f, #0x401230". */
static uint64_t target_of(csh engine, const cs_insn *instruction)
{
	const char *last = strrchr(instruction->op_str, ' ');
	const char *number = strstr(last ? last : instruction->op_str, "0x");

	if (!instruction->id || !(cs_insn_group(engine, instruction, CS_GRP_JUMP) ||
				  cs_insn_group(engine, instruction, CS_GRP_CALL)))
		return 0;
	/* Through memory or a register it is not known. */
	if (!number || strpbrk(instruction->op_str, "*(["))
		return 0;
	return strtoull(number, NULL, 16);
}

static void add(struct disassembly *disassembly, csh engine, const cs_insn *instruction)
{
	bool has_operands = instruction->op_str[0];

	GROW(disassembly->items, disassembly->count, disassembly->room);
	disassembly->items[disassembly->count++] = (struct instruction){
		.vaddr = instruction->address,
		.size_bytes = instruction->size,
		.target = target_of(engine, instruction),
		.text = xasprintf("%s%s%s", instruction->mnemonic, has_operands ? "\t" : "",
				  instruction->op_str),
	};
}

struct error *disassembly_init(struct disassembly *disassembly, const struct image *image,
			       uint64_t vaddr, uint64_t size_bytes, bool intel_syntax)
{
	struct bytes code = image_constants(image, vaddr);
	size_t left = bytes_left(&code) < size_bytes ? bytes_left(&code) : (size_t)size_bytes;
	const uint8_t *at = code.at;
	cs_insn *instruction;
	csh engine;
	struct error *err;

	*disassembly = (struct disassembly){0};
	if (!left)
		return error_new("%s has no code at 0x%llx", image_name(image),
				 (unsigned long long)vaddr);
	err = open_engine(image, intel_syntax, &engine);
	if (err)
		return err;
	instruction = cs_malloc(engine);
	while (left && cs_disasm_iter(engine, &at, &left, &vaddr, instruction))
		add(disassembly, engine, instruction);
	cs_free(instruction, 1);
	cs_close(&engine);
	return NULL;
}

#else

struct error *disassembly_init(struct disassembly *disassembly, const struct image *image,
			       uint64_t vaddr, uint64_t size_bytes, bool intel_syntax)
{
	(void)vaddr, (void)size_bytes, (void)intel_syntax;
	*disassembly = (struct disassembly){0};
	return error_hint(
		error_new("disassemble %s: prof was built without capstone", image_name(image)),
		"install libcapstone-dev and build it again");
}

#endif

void disassembly_deinit(struct disassembly *disassembly)
{
	for (size_t i = 0; i < disassembly->count; i++)
		free((char *)disassembly->items[i].text);
	free(disassembly->items);
	*disassembly = (struct disassembly){0};
}
