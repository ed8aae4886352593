#include "format/pprof/modules.h"

#include "base/alloc.h"
#include "base/text.h"
#include "profile/transfer.h"

#include <stdlib.h>
#include <string.h>

void pprof_modules_init(struct pprof_modules *modules, struct profile *profile,
			struct idmap *shared, uint64_t count)
{
	*modules = (struct pprof_modules){.profile = profile, .shared = shared};
	id_table_init(&modules->ids, count);
}

void pprof_modules_deinit(struct pprof_modules *modules)
{
	free(modules->mappings);
	id_table_deinit(&modules->ids);
}

bool pprof_modules_add(struct pprof_modules *modules, uint64_t id,
		       const struct pprof_source *mapping)
{
	if (!id_table_put(&modules->ids, id, modules->count))
		return false;
	GROW(modules->mappings, modules->count, modules->room);
	modules->mappings[modules->count++] = *mapping;
	return true;
}

void pprof_modules_set_source_user(struct pprof_modules *modules, uint64_t id, uid_t user)
{
	uint32_t index = id_table_get(&modules->ids, id);
	const struct pprof_source *mapping;

	if (index == IDMAP_NONE)
		return;
	mapping = &modules->mappings[index];
	transfer_share_module(modules->profile, mapping->module, user);
	if (mapping->outside != PPROF_NO_MAPPING)
		transfer_share_module(modules->profile, mapping->outside, user);
}

/*
 * Returns a module without segments, for addresses outside their mapping's
 * range.
 */
static uint32_t module_outside(struct pprof_modules *modules, struct pprof_source *mapping)
{
	struct profile_module module = *profile_get_module(modules->profile, mapping->module);

	if (modules->shared)
		return mapping->module;
	if (mapping->outside == PPROF_NO_MAPPING) {
		module.segment_count = 0;
		module.named = false;
		mapping->outside = modules->module_count++;
		profile_describe_module(modules->profile, mapping->outside, &module);
	}
	return mapping->outside;
}

struct pprof_place pprof_modules_place(struct pprof_modules *modules, uint64_t mapping_id,
				       uint64_t address)
{
	uint32_t index = id_table_get(&modules->ids, mapping_id);
	struct pprof_source *mapping;

	if (!mapping_id || index == IDMAP_NONE)
		return (struct pprof_place){PPROF_NO_MAPPING, address};
	mapping = &modules->mappings[index];
	if (mapping->start >= mapping->limit)
		return (struct pprof_place){mapping->module, address};
	if (address < mapping->start || address >= mapping->limit)
		return (struct pprof_place){module_outside(modules, mapping), address};
	return (struct pprof_place){mapping->module, address - mapping->start + mapping->offset};
}

/*
 * Returns whether the file is "jit-PID.dump", which a JIT compiler writes
 * (proc/jitdump.h).
 */
static bool is_jitdump(const char *path)
{
	const char *name = basename(path);
	size_t digits;

	if (!text_begins(name, "jit-"))
		return false;
	digits = strspn(name + 4, "0123456789");
	return digits && !strcmp(name + 4 + digits, ".dump");
}

static enum profile_module_kind module_kind(const char *path)
{
	static const struct {
		const char *start;
		enum profile_module_kind kind;
	} kinds[] = {
		{"[kernel", PROFILE_MODULE_KERNEL},
		{"[guest.kernel", PROFILE_MODULE_KERNEL},
		{"[vdso", PROFILE_MODULE_VDSO},
		{"linux-vdso", PROFILE_MODULE_VDSO},
		{"[jit", PROFILE_MODULE_JIT},
		{"[anon", PROFILE_MODULE_JIT},
		{"//anon", PROFILE_MODULE_JIT},
		{"[unknown]", PROFILE_MODULE_UNKNOWN},
		{"[python", PROFILE_MODULE_INTERPRETED},
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (text_begins(path, kinds[i].start))
			return kinds[i].kind;
	if (is_jitdump(path))
		return PROFILE_MODULE_JIT;
	return *path ? PROFILE_MODULE_FILE : PROFILE_MODULE_UNKNOWN;
}

static bool modules_is_same_file(const struct pprof_source *left, const struct pprof_source *right)
{
	return left->path == right->path && left->build_id == right->build_id;
}

/*
 * Returns whether two mappings are segments of one file, the second after the
 * first. Linkers let two segments share a page, which then is in two mappings
 * at two addresses. But an offset in a module has only one address.
 */
static bool belongs_to(const struct pprof_source *second, const struct pprof_source *first)
{
	return modules_is_same_file(second, first) && first->start < first->limit &&
	       second->start < second->limit && second->offset > first->offset &&
	       second->offset - first->offset >= first->limit - first->start;
}

static uint32_t modules_describe(struct pprof_modules *modules, const struct profile_module *module)
{
	if (modules->shared)
		return transfer_merge_module(modules->profile, modules->shared, module);
	profile_describe_module(modules->profile, modules->module_count, module);
	return modules->module_count++;
}

/*
 * Files are linked to addresses below this limit and loaded above it. A profile
 * of a running process contains the load addresses, which differ from run to
 * run. Then the address of a location is its offset in the file.
 */
#define LINKED_BELOW (UINT64_C(1) << 32)

static uint64_t linked_at(const struct pprof_source *mapping, enum profile_module_kind kind)
{
	return kind == PROFILE_MODULE_FILE && mapping->start >= LINKED_BELOW ? mapping->offset
									     : mapping->start;
}

static void modules_add_module(struct pprof_modules *modules, uint32_t first, uint32_t end)
{
	const struct pprof_source *source = &modules->mappings[first];
	struct profile_module module = {
		.kind = module_kind(profile_string(modules->profile, source->path)),
		.path = source->path,
		.build_id = source->build_id,
	};
	CLEANUP(free_ptr)
	struct profile_segment *segments = xcalloc(end - first, sizeof(*segments));
	uint32_t id;

	for (uint32_t i = first; i < end; i++) {
		const struct pprof_source *mapping = &modules->mappings[i];

		if (mapping->start < mapping->limit)
			segments[module.segment_count++] = (struct profile_segment){
				.offset = mapping->offset,
				.vaddr = linked_at(mapping, module.kind),
				.size_bytes = mapping->limit - mapping->start,
			};
	}
	module.segments = segments;
	module.is_main = module.kind == PROFILE_MODULE_FILE &&
			 modules_is_same_file(source, &modules->mappings[0]);
	id = modules_describe(modules, &module);
	for (uint32_t i = first; i < end; i++)
		modules->mappings[i].module = id;
}

void pprof_modules_define(struct pprof_modules *modules)
{
	modules_describe(modules, &(struct profile_module){.kind = PROFILE_MODULE_NONE});
	for (uint32_t first = 0, end; first < modules->count; first = end) {
		for (end = first + 1; end < modules->count; end++)
			if (!belongs_to(&modules->mappings[end], &modules->mappings[end - 1]))
				break;
		modules_add_module(modules, first, end);
	}
}
