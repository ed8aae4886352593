#include "unwind/go_code.h"

#include "base/alloc.h"

#include <string.h>

/*
 * Names are not compared if there are more functions. The largest Go programs
 * have fewer.
 */
enum { GO_FUNCTIONS_MAX = 4 << 20 };

/*
 * Offset of pcsp in a _func: it follows the start, the name, args and
 * deferreturn.
 */
enum { PCSP_AT = 16 };

/*
 * Suffix of assembly functions with a known calling convention. Their names
 * also occur without it.
 */
static const char convention[] = ".abi0";

static const struct {
	const char *name;
	enum go_function function;
} special[] = {
	{"runtime.goexit", GO_EXIT},
	{"runtime.asmcgocall", GO_CALLS_C},
	{"runtime.systemstack", GO_SYSTEM_STACK},
	{"runtime.morestack", GO_MORE_STACK},
	{"runtime.cgocallback", GO_CALLED_BY_C},
	{"crosscall2", GO_FROM_C},
};

static bool go_code_has_name(struct bytes name, const char *wanted)
{
	size_t len = strlen(wanted), left = bytes_left(&name);

	if (left < len || memcmp(name.at, wanted, len) != 0)
		return false;
	return left == len || (left - len == strlen(convention) &&
			       memcmp(name.at + len, convention, left - len) == 0);
}

static enum go_function function_named(struct bytes name)
{
	for (size_t i = 0; i < ARRAY_SIZE(special); i++)
		if (go_code_has_name(name, special[i].name))
			return special[i].function;
	return GO_NONE;
}

static void add_special(struct go_code *code, const struct go_table *table, uint32_t index,
			bool knows_switches)
{
	enum go_function function = function_named(go_table_name(table, index));

	if (function == GO_NONE || (function != GO_EXIT && !knows_switches) ||
	    code->special_count == GO_SPECIAL_MAX)
		return;
	code->special[code->special_count++] = (struct go_special){
		.start = table->text + go_table_start(table, index),
		.end = table->text + go_table_start(table, index + 1),
		.function = function,
	};
}

void go_code_read(struct go_code *code, struct elf_file *elf)
{
	struct go_table table;

	*code = (struct go_code){0};
	/* Linkers other than Go's store the table in another section. */
	code->is_of_go = elf_file_has_section(elf, ".gopclntab") ||
			 elf_file_has_section(elf, ".data.rel.ro.gopclntab") ||
			 elf_file_has_section(elf, ".go.buildinfo");
	if (!code->is_of_go || !go_table_open(&table, elf))
		return;
	code->start = table.text + go_table_start(&table, 0);
	code->end = table.text + go_table_start(&table, table.count);
	if (table.count > GO_FUNCTIONS_MAX)
		return;
	for (uint32_t i = 0; i < table.count; i++)
		add_special(code, &table, i, elf_file_machine(elf) == EM_X86_64);
	if (elf_file_machine(elf) == EM_X86_64 && !elf_file_is_untrusted(elf))
		code->table = table;
}

bool go_code_depth(const struct go_code *code, uint64_t vaddr, uint32_t *ret)
{
	const struct go_table *table = &code->table;
	uint64_t offset = vaddr - table->text;
	uint32_t index = table->count ? go_table_find(table, offset) : 0;
	struct bytes at;
	int32_t depth;

	if (index == table->count)
		return false;
	at = go_table_description(table, index);
	bytes_skip(&at, PCSP_AT);
	depth = go_table_value(table, bytes_u32(&at), offset - go_table_start(table, index));
	*ret = (uint32_t)depth;
	return bytes_ok(&at) && depth >= 0;
}

enum go_function go_code_at(const struct go_code *code, uint64_t vaddr)
{
	if (vaddr < code->start || vaddr >= code->end)
		return GO_NONE;
	for (unsigned i = 0; i < code->special_count; i++)
		if (vaddr >= code->special[i].start && vaddr < code->special[i].end)
			return code->special[i].function;
	return GO_ORDINARY;
}
