/*
 * Fuzzes ELF files with debug information, from whose types the layouts of
 * tasks are built. A layout that was built must be readable.
 */
#include "tasks/layout_builder.h"

#include "dwarf/types.h"
#include "replay.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* The maximum number of layouts to build. */
enum { FOUND_MAX = 256 };

struct pass {
	struct dwarf_found found[FOUND_MAX];
	size_t count;
};

static void take_found(void *user, const struct dwarf_found *found)
{
	struct pass *pass = user;

	if (pass->count < FOUND_MAX)
		pass->found[pass->count++] = *found;
}

static void note_bytes(const char *part, struct bytes text)
{
	note_number(part, bytes_left(&text));
	note(part, text.at, bytes_left(&text));
}

static void note_found(const struct dwarf_types *types, const struct dwarf_found *found)
{
	note_number("found", found->kind);
	note_number("found", found->offset);
	note_bytes("found", found->name);
	note_bytes("found", found->linkage_name);
	note_number("found", found->type);
	note_number("found", found->has_address + 2 * found->is_thread_local);
	note_number("found", found->has_address ? found->address : 0);
	note_number("found", found->parameter);
	note("found", found->arguments, sizeof(found->arguments));
	note_number("found", dwarf_types_is_in(types, found->scope, "task", "core"));
}

static void note_members(const struct dwarf_member *members, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		note_bytes("types", members[i].name);
		note_number("types", members[i].type);
		note_number("types", members[i].offset);
		note_text("types", members[i].decl_file);
		note_number("types", members[i].decl_line);
	}
}

static void note_type(struct dwarf_types *types, dwarf_type_id id)
{
	struct dwarf_type type;

	note_text("names", dwarf_types_name(types, id));
	if (!dwarf_types_read(types, id, &type))
		return;
	note_number("types", type.kind);
	note_bytes("types", type.name);
	note_number("types", type.size_bytes);
	note_number("types", type.target);
	note_number("types", type.containing);
	note_members(type.members, type.member_count);
	note_members(type.parameters, type.parameter_count);
	for (size_t i = 0; i < type.variant_count; i++) {
		note_number("types", type.variants[i].is_default);
		note_number("types", type.variants[i].value);
		note_members(&type.variants[i].content, 1);
	}
	note_number("types", type.discriminant_offset);
	note_number("types", type.discriminant_bytes);
}

static void note_types(struct elf_file *elf)
{
	CLEANUP(dwarf_types_cleanup) struct dwarf_types *types = dwarf_types_new(elf);
	struct pass pass = {0};

	if (!types)
		return;
	dwarf_types_scan(types, take_found, &pass);
	note_number("found", pass.count);
	for (size_t i = 0; i < pass.count; i++) {
		note_found(types, &pass.found[i]);
		note_type(types, pass.found[i].offset);
		note_type(types, pass.found[i].type);
		note_type(types, pass.found[i].parameter);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(elf_file_cleanup) struct elf_file *elf = NULL;
	CLEANUP(task_layout_cleanup) struct task_layout *layout = NULL, *again = NULL;
	struct error *err = elf_file_from_memory(data, size, "input", &elf);
	char *bytes;
	size_t len;

	if (!err) {
		note_types(elf);
		err = layout_build(elf, &layout);
	}
	error_free(err);
	if (!layout)
		return 0;
	bytes = task_layout_write(layout, &len);
	note("layout", bytes, len);
	again = task_layout_read(bytes, len);
	free(bytes);
	return 0;
}
