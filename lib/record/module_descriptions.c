#include "record/module_descriptions.h"

#include "base/alloc.h"
#include "profile/source_users.h"

#include <stdlib.h>
#include <string.h>

enum profile_module_kind described_kind(enum module_kind kind)
{
	switch (kind) {
	case MODULE_FILE:
		return PROFILE_MODULE_FILE;
	case MODULE_KERNEL:
		return PROFILE_MODULE_KERNEL;
	case MODULE_VDSO:
		return PROFILE_MODULE_VDSO;
	case MODULE_JIT:
		return PROFILE_MODULE_JIT;
	case MODULE_SCRIPT:
		return PROFILE_MODULE_INTERPRETED;
	case MODULE_UNKNOWN:
		break;
	}
	return PROFILE_MODULE_UNKNOWN;
}

static string_id build_id_text(struct strtab *strings, const struct build_id *id)
{
	char hex[BUILD_ID_HEX_BYTES];

	build_id_hex(id, hex);
	return strtab_add(strings, hex);
}

static void describe_module(struct profile *profile, module_id id, const struct module *module,
			    bool is_main)
{
	struct strtab *strings = profile_strings(profile);
	CLEANUP(free_ptr) struct profile_segment *segments = NULL;
	struct profile_module description = {
		.kind = described_kind(module->kind),
		.path = strtab_add(strings, module->path),
		.pid = module->pid,
		.is_main = is_main,
		.source_user = module->kind == MODULE_KERNEL ? SOURCE_USER_PROF
							     : SOURCE_USER_NOBODY,
	};
	const struct elf_file_segment *all;
	unsigned count;

	if (module->elf) {
		description.source_user = source_user_of_owner(elf_file_owner(module->elf),
							       elf_file_is_untrusted(module->elf));
		description.build_id = build_id_text(strings, elf_file_build_id(module->elf));
		all = elf_file_segments(module->elf, &count);
		segments = xcalloc(count, sizeof(*segments));
		for (unsigned i = 0; i < count; i++)
			if (all[i].executable)
				segments[description.segment_count++] = (struct profile_segment){
					all[i].offset, all[i].vaddr, all[i].file_bytes};
		description.segments = segments;
	}
	profile_describe_module(profile, id, &description);
}

static bool is_described(const struct profile *profile, module_id id, const struct module *module)
{
	const struct profile_module *description = profile_get_module(profile, id);

	return description->path && (description->segment_count || !module->elf);
}

void describe_modules(struct profile *profile, const struct address_spaces *spaces,
		      module_id main_module, const char *main_path)
{
	uint32_t count = address_spaces_module_count(spaces);
	CLEANUP(free_ptr) bool *used = xcalloc(count, sizeof(*used));

	for (frame_id i = 0; i < profile_frame_count(profile); i++) {
		uint32_t module = profile_get_frame(profile, i).module;

		if (module < count)
			used[module] = true;
	}
	for (module_id id = 0; id < count; id++) {
		const struct module *module = address_spaces_module(spaces, id);
		bool is_main = id == main_module || (main_path && !strcmp(main_path, module->path));

		if ((used[id] || is_main) && !is_described(profile, id, module))
			describe_module(profile, id, module, is_main);
	}
}
