#include "elf/disassembly.h"

#include "base/alloc.h"

#include <stdlib.h>

#ifdef HAVE_CAPSTONE

#include <capstone/capstone.h>
#include <dlfcn.h>
#include <elf.h>
#include <string.h>

#define FUNCTIONS(each)                                                                            \
	each(cs_open) each(cs_close) each(cs_option) each(cs_strerror) each(cs_insn_group)         \
		each(cs_malloc) each(cs_free) each(cs_disasm_iter)
#define DECLARE(function) __typeof__(function) *function;

/*
 * capstone is loaded on demand, because its many relocations would slow down
 * each start of prof. A static program contains it.
 */
struct capstone {
	void *library;
	FUNCTIONS(DECLARE)
	csh engine;
};

static void capstone_deinit(struct capstone *capstone)
{
	if (capstone->engine)
		capstone->cs_close(&capstone->engine);
	if (capstone->library)
		dlclose(capstone->library);
}

#ifdef PROF_STATIC

#define LINK(function) capstone->function = function;

static struct error *disassembly_load_library(struct capstone *capstone)
{
	FUNCTIONS(LINK)
	return NULL;
}

#else

#define TEXT_OF(macro) #macro
#define SONAME(version) "libcapstone.so." TEXT_OF(version)
/* ISO C does not allow function pointers in void pointers; POSIX does. */
#define FIND(function) &&__extension__(capstone->function = dlsym(capstone->library, #function))

/* Loads capstone. It stays loaded after dlclose(), for the next function. */
static struct error *disassembly_load_library(struct capstone *capstone)
{
	capstone->library = dlopen(SONAME(CS_API_MAJOR), RTLD_NOW | RTLD_NODELETE);
	if (capstone->library FUNCTIONS(FIND))
		return NULL;
	return error_hint(error_new("%s", dlerror()),
			  "install the capstone that prof was built with");
}

#endif

static struct error *open_engine(struct capstone *capstone, const struct elf_file *elf,
				 bool intel_syntax)
{
	uint16_t machine = elf_file_machine(elf);
	cs_err status = CS_ERR_ARCH;

	if (machine == EM_X86_64)
		status = capstone->cs_open(CS_ARCH_X86, CS_MODE_64, &capstone->engine);
	else if (machine == EM_AARCH64)
		status = capstone->cs_open(CS_ARCH_ARM64, CS_MODE_ARM, &capstone->engine);
	if (status != CS_ERR_OK)
		return error_new("%s", capstone->cs_strerror(status));
	capstone->cs_option(capstone->engine, CS_OPT_DETAIL, CS_OPT_ON);
	capstone->cs_option(capstone->engine, CS_OPT_SKIPDATA, CS_OPT_ON);
	if (machine == EM_X86_64 && !intel_syntax)
		capstone->cs_option(capstone->engine, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	return NULL;
}

/* Parses the address at the end of "0x401230" or "x0, #0x1f, #0x401230". */
static uint64_t disassembly_target_of(const struct capstone *capstone, const cs_insn *instruction)
{
	const char *last = strrchr(instruction->op_str, ' ');
	const char *number = strstr(last ? last : instruction->op_str, "0x");

	if (!instruction->id ||
	    !(capstone->cs_insn_group(capstone->engine, instruction, CS_GRP_JUMP) ||
	      capstone->cs_insn_group(capstone->engine, instruction, CS_GRP_CALL)))
		return 0;
	/* The target of an indirect jump is unknown. */
	if (!number || strpbrk(instruction->op_str, "*(["))
		return 0;
	return strtoull(number, NULL, 16);
}

static void disassembly_add(struct disassembly *disassembly, const struct capstone *capstone,
			    const cs_insn *instruction)
{
	bool has_operands = instruction->op_str[0];

	GROW(disassembly->items, disassembly->count, disassembly->room);
	disassembly->items[disassembly->count++] = (struct instruction){
		.vaddr = instruction->address,
		.size_bytes = instruction->size,
		.target = disassembly_target_of(capstone, instruction),
		.text = xasprintf("%s%s%s", instruction->mnemonic, has_operands ? "\t" : "",
				  instruction->op_str),
	};
}

struct error *disassembly_load(void)
{
	CLEANUP(capstone_deinit) struct capstone capstone = {0};

	return disassembly_load_library(&capstone);
}

struct error *disassembly_init(struct disassembly *disassembly, const struct elf_file *elf,
			       uint64_t vaddr, uint64_t size_bytes, bool intel_syntax)
{
	CLEANUP(capstone_deinit) struct capstone capstone = {0};
	struct bytes code = elf_file_constants(elf, vaddr);
	size_t left = bytes_left(&code) < size_bytes ? bytes_left(&code) : (size_t)size_bytes;
	const uint8_t *at = code.at;
	cs_insn *instruction;
	struct error *err;

	*disassembly = (struct disassembly){0};
	if (!left)
		return error_new("it has no code at 0x%llx", (unsigned long long)vaddr);
	err = disassembly_load_library(&capstone);
	if (!err)
		err = open_engine(&capstone, elf, intel_syntax);
	if (err)
		return err;
	instruction = capstone.cs_malloc(capstone.engine);
	while (left && capstone.cs_disasm_iter(capstone.engine, &at, &left, &vaddr, instruction))
		disassembly_add(disassembly, &capstone, instruction);
	capstone.cs_free(instruction, 1);
	return NULL;
}

#else

struct error *disassembly_load(void)
{
	return error_hint(error_new("prof was built without capstone"),
			  "install libcapstone-dev and build it again");
}

struct error *disassembly_init(struct disassembly *disassembly, const struct elf_file *elf,
			       uint64_t vaddr, uint64_t size_bytes, bool intel_syntax)
{
	(void)elf, (void)vaddr, (void)size_bytes, (void)intel_syntax;
	*disassembly = (struct disassembly){0};
	return disassembly_load();
}

#endif

void disassembly_deinit(struct disassembly *disassembly)
{
	for (size_t i = 0; i < disassembly->count; i++)
		free((char *)disassembly->items[i].text);
	free(disassembly->items);
	*disassembly = (struct disassembly){0};
}
