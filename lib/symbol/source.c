#include "symbol/source.h"

#include "symbol/perfmap.h"

#include "base/alloc.h"
#include "dwarf/sections.h"
#include "elf/dynamic_symbols.h"
#include "elf/packed_file.h"

#include <stdlib.h>
#include <string.h>

/*
 * Each object file of a program may add a line to .comment. Equal lines are
 * merged.
 */
enum { COMMENT_BYTES_MAX = 64 << 10 };

static bool has_section(struct elf_file *elf, const char *name)
{
	return elf && elf_file_has_section(elf, name);
}

static void symbol_source_open_debug_file(struct source *source,
					  const struct source_options *options)
{
	const struct source_module *module = &source->module;
	bool complete = has_section(module->elf, ".symtab") &&
			(!options->inlines || has_section(module->elf, ".debug_info"));

	if (!complete && module->opener.open)
		source->debug = debugfile_find(module->elf, &module->opener);
	if (!source->debug && !has_section(module->elf, ".symtab")) {
		source->debug = debugfile_inside(module->elf);
		source->debug_is_embedded = source->debug;
	}
}

static void open_dwarf(struct source *source, const struct source_options *options)
{
	struct elf_file *holder = source->module.elf;

	if (!has_section(holder, ".debug_info"))
		holder = source->debug;
	if (!has_section(holder, ".debug_info"))
		return;
	if (options->sharing)
		dwarf_sections_unpack(holder, options->sharing->run, options->sharing->user);
	if (elf_file_section(holder, ".debug_info").unreadable) {
		source->problem = SOURCE_PACKED_DWARF;
		return;
	}
	if (source->module.opener.open)
		source->alt = debugfile_find_alt(holder, &source->module.opener);
	source->dwarf = dwarf_new(holder, source->alt);
	if (source->dwarf && options->again)
		dwarf_keep_contents(source->dwarf);
	if (source->dwarf && options->sharing)
		dwarf_share_units(source->dwarf, options->sharing);
	if (source->dwarf && source->module.opener.open)
		dwarf_follow_splits(source->dwarf, source->module.elf, &source->module.opener);
}

static void open_list(struct source *source, const uint64_t *addresses, size_t count)
{
	FILE *list = source->module.map;
	bool is_whole;

	source->names = xcalloc(count, sizeof(*source->names));
	if (jitdump_names_is(list)) {
		source->lines = xcalloc(count, sizeof(*source->lines));
		is_whole = jitdump_names_find(list, addresses, count, &source->arena, source->names,
					      source->lines);
	} else {
		is_whole = perfmap_find(list, source->module.map_bytes, addresses, count,
					&source->arena, source->names);
	}
	if (!is_whole)
		source->problem = SOURCE_LONG_MAP;
}

/*
 * Decompresses the module's file to source->unpacked, if it is the right one.
 */
static void open_packed(struct source *source)
{
	const struct kernel_image *kernel = source->module.kernel;

	source->problem = SOURCE_PACKED_FILE;
	error_free(packed_file_open(fileno(source->module.map), "", &source->unpacked));
	if (!source->unpacked)
		return;
	source->problem = SOURCE_NO_PROBLEM;
	if (build_id_equal(elf_file_build_id(source->unpacked), &kernel->build_id))
		return;
	source->problem = SOURCE_OTHER_BUILD;
	elf_file_free(source->unpacked);
	source->unpacked = NULL;
}

static void open_kernel(struct source *source)
{
	if (!source->module.elf)
		open_packed(source);
	source->module.elf = source->unpacked ? source->unpacked : source->module.elf;
	if (!source->module.elf)
		return;
	load_address_find(&source->load, source->module.elf, source->module.kernel);
	if (!source->load.count)
		source->problem = SOURCE_OTHER_PLACE;
	source->symtab = symtab_open(source->module.elf, NULL);
}

void source_open(struct source *source, const struct source_module *module,
		 const struct source_options *options, const uint64_t *addresses, size_t count)
{
	source->module = *module;
	if (module->kernel) {
		open_kernel(source);
	} else if (module->elf) {
		symbol_source_open_debug_file(source, options);
		source->symtab = symtab_open(module->elf, source->debug);
		source->go = gopclntab_new(module->elf);
	} else {
		open_list(source, addresses, count);
	}
}

void source_set_module(struct source *source, const struct source_module *module)
{
	source->module = *module;
	if (source->unpacked)
		source->module.elf = source->unpacked;
}

bool source_vaddr(const struct source *source, uint64_t address, uint64_t *ret)
{
	*ret = address;
	return !source->module.kernel || load_address_vaddr(&source->load, address, ret);
}

/*
 * Looks up the sections now, because threads that resolve addresses must not.
 */
static void open_libdw(struct source *source, const struct source_options *options)
{
	struct elf_file *holder = source->module.elf;

	if (!source->dwarf || options->symbolizer == SYMBOLIZER_FAST)
		return;
	if (!has_section(holder, ".debug_info"))
		holder = source->debug;
	source->libdw = libdw_new(holder, source->alt);
}

struct dwarf *source_dwarf(struct source *source, const struct source_options *options)
{
	if (source->symtab && options->inlines && !source->dwarf_is_open) {
		open_dwarf(source, options);
		open_libdw(source, options);
	}
	source->dwarf_is_open = true;
	return source->dwarf;
}

uint64_t source_into_function(struct source *source, uint64_t vaddr, const atomic_bool *cancel)
{
	uint64_t start, end;

	if (!source->starts_are_open)
		source->starts = function_starts_new(source->module.elf, cancel);
	source->starts_are_open = true;
	if (!source->starts || !function_starts_find(source->starts, vaddr, &start, &end))
		return 0;
	return vaddr - start;
}

void source_close(struct source *source)
{
	function_starts_free(source->starts);
	libdw_free(source->libdw);
	dwarf_free(source->dwarf);
	gopclntab_free(source->go);
	symtab_free(source->symtab);
	elf_file_free(source->alt);
	elf_file_free(source->debug);
	elf_file_free(source->unpacked);
	load_address_deinit(&source->load);
	free(source->names);
	free(source->lines);
	free(source->splits.example);
	arena_deinit(&source->arena);
	*source = (struct source){0};
}

enum source_symbols source_symbols(const struct source *source)
{
	if (!source->symtab)
		return SOURCE_ALL_SYMBOLS;
	if (symtab_is_empty(source->symtab))
		return SOURCE_NO_SYMBOLS;
	return symtab_is_complete(source->symtab) ? SOURCE_ALL_SYMBOLS : SOURCE_EXPORTED_SYMBOLS;
}

static bool has_exported(struct elf_file *elf)
{
	struct bytes symbols = elf ? elf_dynamic_symbols(elf).symbols : bytes_of(NULL, 0);

	return has_section(elf, ".dynsym") || bytes_left(&symbols);
}

static uint32_t bits_of(struct elf_file *elf)
{
	uint32_t bits = 0;

	if (has_section(elf, ".symtab"))
		bits |= NAMES_SYMTAB;
	if (has_exported(elf))
		bits |= NAMES_EXPORTED;
	if (has_section(elf, ".debug_info"))
		bits |= NAMES_DWARF;
	return bits;
}

static bool symbol_source_is_rust(struct elf_file *elf)
{
	static const char compiler[] = "rustc version ";
	struct bytes comment = elf_file_section(elf, ".comment").data;
	size_t len = bytes_left(&comment);

	return len && memmem(comment.at, len < COMMENT_BYTES_MAX ? len : COMMENT_BYTES_MAX,
			     compiler, strlen(compiler));
}

/*
 * Returns the counts. The example is kept as long as the numbers do not change.
 */
static const struct dwarf_split_counts *splits_of(struct source *source)
{
	struct dwarf_split_counts counts;

	if (!source->dwarf)
		return &source->splits;
	counts = dwarf_split_counts(source->dwarf);
	if (counts.missing != source->splits.missing) {
		free(source->splits.example);
		source->splits.example = STEAL(counts.example);
	}
	free(counts.example);
	counts.example = source->splits.example;
	source->splits = counts;
	return &source->splits;
}

static void add_splits(struct source *source, struct name_sources *names)
{
	const struct dwarf_split_counts *splits = splits_of(source);

	names->split_units = splits->units;
	names->missing_units = splits->missing;
	names->missing_file = splits->example;
	if (splits->units)
		names->present |= NAMES_SPLIT_DWARF;
}

struct name_sources source_names(struct source *source)
{
	struct name_sources names = {0};

	if (!source->symtab)
		return (struct name_sources){.present = source->module.kernel ? 0
							: source->lines	      ? NAMES_JITDUMP
									      : NAMES_LISTED};
	names.present = bits_of(source->module.elf);
	names.is_rust = symbol_source_is_rust(source->module.elf);
	if (source->go)
		names.present |= NAMES_GO;
	if (source->debug_is_embedded) {
		names.present |= NAMES_EMBEDDED;
	} else if (source->debug) {
		names.present |= bits_of(source->debug) & ~(uint32_t)NAMES_EXPORTED;
		names.debug_file = elf_file_name(source->debug);
	}
	if (source->is_named_by_libdw)
		names.present |= NAMES_LIBDW;
	add_splits(source, &names);
	return names;
}

static bool symbol_source_has_changed(struct elf_file *elf)
{
	return elf && elf_file_changed(elf);
}

enum source_problem source_problem(struct source *source)
{
	const struct dwarf_split_counts *splits = splits_of(source);

	if (symbol_source_has_changed(source->module.elf) ||
	    symbol_source_has_changed(source->debug) || symbol_source_has_changed(source->alt) ||
	    splits->has_changed)
		return SOURCE_CHANGED_FILE;
	if (splits->missing && source->problem == SOURCE_NO_PROBLEM)
		return SOURCE_SPLIT_DWARF;
	return source->problem;
}
