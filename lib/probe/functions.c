#include "base/alloc.h"
#include "base/arena.h"
#include "base/nearest.h"
#include "base/text.h"
#include "dwarf/search.h"
#include "elf/classes.h"
#include "elf/disassembly.h"
#include "elf/dynamic_symbols.h"
#include "probe/pattern.h"
#include "probe/question.h"
#include "report/short_name.h"
#include "symbol/demangle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Limits for the names that are compared to find a similar one. */
enum { NAMES_MAX = 200000, FUNCTIONS_NAME_BYTES_MAX = 1 << 16 };

struct probe_functions_function {
	uint64_t vaddr, size_bytes;
	bool is_chosen_at_run_time; /* STT_GNU_IFUNC: its code selects the function */
	const char *name;	    /* as in the symbol table, without @VERSION */
};

struct probe_functions_search {
	const struct probe_question *question;
	char *key; /* text that every matching name contains */
	struct probe_places *found;
	struct probe_functions_function shortest; /* shortest of the functions found */
	bool has_chosen;			  /* the name is an STT_GNU_IFUNC function */
	/* For an address: the function that covers it. */
	struct probe_functions_function around;
	struct arena names;
	const char **near; /* names for nearest() */
	size_t near_count, near_room;
	bool has_symbols; /* there is a .symtab */
};

static void probe_functions_search_deinit(struct probe_functions_search *search)
{
	free(search->key);
	free(search->near);
	arena_deinit(&search->names);
}

/* ---- Names ---- */

static bool equals(const struct probe_spec *spec, const char *name)
{
	return pattern_is(spec->function) ? pattern_matches(spec->function, name)
					  : !strcmp(spec->function, name);
}

/*
 * Returns true for parts of a function without its entry, "parse.cold" and
 * "parse.part.0". "parse.constprop.0" is a complete copy of parse.
 */
static bool is_part(const char *name)
{
	return strstr(name, ".cold") || strstr(name, ".part.");
}

static bool equals_without_suffix(const struct probe_spec *spec, const char *name)
{
	static const char *const suffixes[] = {".constprop.", ".isra.", ".lto_priv.", ".llvm."};
	size_t len = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		const char *at = strstr(name, suffixes[i]);

		if (at && (size_t)(at - name) < len)
			len = (size_t)(at - name);
	}
	if (!name[len])
		return false;

	CLEANUP(free_ptr) char *plain = xstrndup(name, len);

	return equals(spec, plain);
}

/*
 * Compares with the names in prof's outputs: with and without generic
 * arguments, full and short.
 */
static bool equals_shown(const struct probe_spec *spec, const char *full)
{
	CLEANUP(free_ptr) char *plain = name_without_generics(full);
	bool is_equal = equals(spec, full) || equals(spec, plain);

	for (enum name_generics i = GENERICS_NONE; !is_equal && i <= GENERICS_ALL; i++) {
		CLEANUP(free_ptr) char *name = short_name(full, i);

		is_equal = equals(spec, name);
	}
	return is_equal;
}

static bool probe_functions_matches(const struct probe_functions_search *search, const char *name,
				    const char *full)
{
	const struct probe_spec *spec = search->question->spec;

	if (equals(spec, name))
		return true;
	if (is_part(name))
		return false;
	if (full)
		return strstr(full, search->key) && equals_shown(spec, full);
	return equals_without_suffix(spec, name);
}

/* ---- Symbols ---- */

/*
 * Collects a name to suggest. Names with generics are excluded, because they
 * are long and users do not type them.
 */
static void note_near(struct probe_functions_search *search, const char *name, const char *full)
{
	CLEANUP(free_ptr) char *plain = full ? short_name(full, GENERICS_NONE) : NULL;

	if (search->near_count >= NAMES_MAX)
		return;
	GROW(search->near, search->near_count, search->near_room);
	if (plain)
		name = plain;
	search->near[search->near_count++] = arena_strndup(&search->names, name, strlen(name));
}

/* Returns false if the file has no code there. */
static bool probe_functions_add_place(struct probe_functions_search *search, uint64_t vaddr,
				      const char *name)
{
	uint64_t offset = 0;

	if (!elf_file_vaddr_to_offset(search->question->elf, vaddr, &offset))
		return false;
	probe_places_add(search->found, offset, 0, name);
	return true;
}

static void take_named(struct probe_functions_search *search,
		       const struct probe_functions_function *function)
{
	const struct probe_spec *spec = search->question->spec;
	CLEANUP(free_ptr) char *full = demangle(function->name);

	if (!probe_functions_matches(search, function->name, full))
		return;
	if (function->is_chosen_at_run_time) {
		search->has_chosen = true;
		return;
	}
	if (!probe_functions_add_place(search, function->vaddr + spec->offset,
				       full ? full : function->name))
		return;
	if (!search->shortest.vaddr || function->size_bytes < search->shortest.size_bytes)
		search->shortest = *function;
	search->shortest.name = NULL;
}

static void take_around(struct probe_functions_search *search,
			const struct probe_functions_function *function)
{
	uint64_t vaddr = search->question->spec->offset;

	if (vaddr < function->vaddr || vaddr - function->vaddr >= function->size_bytes)
		return;
	search->around = *function;
	search->around.name = arena_strndup(&search->names, function->name, strlen(function->name));
}

static void probe_functions_note_name(struct probe_functions_search *search,
				      const struct probe_functions_function *function)
{
	CLEANUP(free_ptr) char *full = demangle(function->name);

	if (!is_part(function->name))
		note_near(search, function->name, full);
}

static bool probe_functions_is_function(const Elf64_Sym *symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_GNU_IFUNC);
}

static char *probe_functions_name_of(struct bytes strings, const Elf64_Sym *symbol)
{
	struct bytes at = bytes_at(strings, symbol->st_name), name = bytes_text(&at);
	size_t len = name.at ? bytes_left(&name) : 0;
	const unsigned char *version = len ? memchr(name.at, '@', len) : NULL;

	if (version)
		len = (size_t)(version - name.at);
	return len && len < FUNCTIONS_NAME_BYTES_MAX ? xstrndup((const char *)name.at, len) : NULL;
}

typedef void take_function(struct probe_functions_search *search,
			   const struct probe_functions_function *function);

/* Returns true if the table exists. */
static bool walk_table(struct probe_functions_search *search, struct elf_file *elf,
		       struct bytes symbols, struct bytes strings, take_function *take)
{
	bool exists = bytes_left(&symbols);
	Elf64_Sym symbol;

	while (elf_take_symbol(&symbols, elf_file_is_32(elf), &symbol)) {
		CLEANUP(free_ptr)
		char *name = probe_functions_is_function(&symbol)
				     ? probe_functions_name_of(strings, &symbol)
				     : NULL;
		struct probe_functions_function function = {
			.vaddr = elf_file_symbol_vaddr(elf, &symbol),
			.size_bytes = symbol.st_size,
			.is_chosen_at_run_time = ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC,
			.name = name,
		};

		if (name)
			take(search, &function);
	}
	return exists;
}

static bool walk_symtab(struct probe_functions_search *search, struct elf_file *elf,
			take_function *take)
{
	return walk_table(search, elf, elf_file_section(elf, ".symtab").data,
			  elf_file_section(elf, ".strtab").data, take);
}

/*
 * Visits the names of the file itself and of its embedded and separate debug
 * files.
 */
static void probe_functions_walk(struct probe_functions_search *search, take_function *take)
{
	struct elf_file *elf = search->question->elf, *debug = search->question->debug;
	const struct elf_dynamic_symbols exported = elf_dynamic_symbols(elf);

	search->has_symbols = walk_symtab(search, elf, take);
	if (debug)
		search->has_symbols |= walk_symtab(search, debug, take);
	walk_table(search, elf, exported.symbols, exported.strings, take);
}

/* ---- What is wrong ---- */

struct inlined_search {
	const struct probe_functions_search *search;
	struct dwarf_inlined inlined;
	bool is_found;
};

static bool is_inlined(void *user, const struct dwarf_inlined *inlined)
{
	struct inlined_search *looking = user;
	CLEANUP(free_ptr) char *full = demangle(inlined->name);

	if (!probe_functions_matches(looking->search, inlined->name, full))
		return false;
	looking->inlined = *inlined;
	return looking->is_found = true;
}

/* Returns NULL if the function is not inlined, as far as known. */
static struct error *explain_inlined(struct probe_functions_search *search)
{
	const struct probe_question *question = search->question;
	struct inlined_search looking = {.search = search};

	dwarf_search_inlined(question->debug ? question->debug : question->elf, question->alt,
			     &search->names, is_inlined, &looking);
	if (!looking.is_found)
		return NULL;
	if (!looking.inlined.caller_file)
		return error_new("%s is inlined everywhere", question->spec->function);
	return error_hint(error_new("%s is inlined everywhere, for example at %s:%" PRIu32,
				    question->spec->function, looking.inlined.caller_file,
				    looking.inlined.caller_line),
			  "a line can be probed: uprobe:PROGRAM:%s:%" PRIu32,
			  basename(looking.inlined.caller_file), looking.inlined.caller_line);
}

/*
 * Returns the last part of a path, which may be all that the user has written.
 */
static const char *probe_functions_last_part(const char *name)
{
	const char *last = name;

	for (const char *at = name; (at = strstr(at, "::")); at += 2)
		last = at + 2;
	return last;
}

static bool ends_with_parts(const char *name, const char *parts)
{
	size_t len = strlen(name), parts_len = strlen(parts);

	return len > parts_len + 2 && !strcmp(name + len - parts_len, parts) &&
	       text_begins(name + len - parts_len - 2, "::");
}

/* Finds a name that ends with the user's text or is spelled similarly. */
static const char *find_near(struct probe_functions_search *search)
{
	const char *word = search->question->spec->function, *near;
	CLEANUP(free_ptr)
	const char **last = xcalloc(search->near_count + 1, sizeof(*last));

	for (size_t i = 0; i < search->near_count; i++) {
		if (ends_with_parts(search->near[i], word))
			return search->near[i];
		last[i] = probe_functions_last_part(search->near[i]);
	}
	GROW(search->near, search->near_count, search->near_room);
	search->near[search->near_count] = NULL;
	near = nearest(word, search->near);
	if (near)
		return near;
	near = nearest(word, last);
	for (size_t i = 0; near && i < search->near_count; i++)
		if (last[i] == near)
			return search->near[i];
	return NULL;
}

static struct error *probe_functions_explain_missing(struct probe_functions_search *search)
{
	const struct probe_question *question = search->question;
	const char *name = question->spec->function, *near = NULL;
	struct error *err;

	if (search->has_chosen)
		return error_hint(error_new("%s is chosen when the program starts (IFUNC)", name),
				  "probe its implementations by a pattern: '*%s*'", name);
	err = explain_inlined(search);
	if (err)
		return err;
	probe_functions_walk(search, probe_functions_note_name);
	near = pattern_is(name) ? NULL : find_near(search);
	err = error_new("it has no function %s%s", name,
			search->has_symbols ? ""
					    : " among its exported functions, and it is stripped");
	if (near)
		return error_hint(err, "did you mean %s?", near);
	return search->has_symbols
		       ? err
		       : error_hint(err, "install its debug symbols (a package …-dbgsym or "
					 "…-debuginfo), or probe an address: 0x1234");
}

/* ---- Offsets ---- */

/*
 * Checks that the address is the start of an instruction, because an int3 in
 * the middle of one changes the program's behavior. Function starts are known.
 * Other addresses are disassembled if capstone is available.
 */
static bool is_instruction(const struct probe_question *question,
			   const struct probe_functions_function *function, uint64_t vaddr)
{
	struct disassembly code = {0};
	CLEANUP(error_cleanup) struct error *err = NULL;
	bool is_start = false;

	if (!question->can_disassemble)
		return true;
	err = disassembly_init(&code, question->elf, function->vaddr, function->size_bytes, true);
	if (err)
		return true;
	for (size_t i = 0; i < code.count; i++)
		is_start |= code.items[i].vaddr == vaddr;
	disassembly_deinit(&code);
	return is_start;
}

static struct error *check_offset(const struct probe_functions_search *search)
{
	const struct probe_spec *spec = search->question->spec;
	const struct probe_functions_function *function = &search->shortest;

	if (!spec->offset)
		return NULL;
	if (function->size_bytes && spec->offset >= function->size_bytes)
		return error_new("%s has only %" PRIu64 " bytes", spec->function,
				 function->size_bytes);
	return is_instruction(search->question, function, function->vaddr + spec->offset)
		       ? NULL
		       : error_hint(error_new("no instruction starts at %s+0x%" PRIx64,
					      spec->function, spec->offset),
				    "prof annotate lists the instructions");
}

static struct error *find_address(struct probe_functions_search *search)
{
	const struct probe_question *question = search->question;
	uint64_t vaddr = question->spec->offset;
	CLEANUP(free_ptr) char *full = NULL, *name = NULL;

	probe_functions_walk(search, take_around);
	if (search->around.name) {
		full = demangle(search->around.name);
		if (!is_instruction(question, &search->around, vaddr))
			return error_hint(error_new("no instruction starts at 0x%" PRIx64
						    ", which is in %s",
						    vaddr, full ? full : search->around.name),
					  "prof annotate lists the instructions");
		name = xasprintf("%s+0x%" PRIx64, full ? full : search->around.name,
				 vaddr - search->around.vaddr);
	}
	if (!name)
		name = xasprintf("0x%" PRIx64, vaddr);
	return probe_functions_add_place(search, vaddr, name)
		       ? NULL
		       : error_hint(error_new("it has no code at 0x%" PRIx64, vaddr),
				    "use an address of the file, as printed by nm or objdump");
}

struct error *probe_find_functions(const struct probe_question *question, struct probe_places *ret)
{
	const struct probe_spec *spec = question->spec;
	CLEANUP(probe_functions_search_deinit)
	struct probe_functions_search search = {.question = question, .found = ret};
	size_t len = 0;
	const char *key = NULL;

	if (spec->place == PROBE_BY_ADDRESS)
		return find_address(&search);
	key = pattern_key(spec->function, &len);
	search.key = xstrndup(key, len);
	probe_functions_walk(&search, take_named);
	/*
	 * There may be a function of an older version in addition to the
	 * selected one.
	 */
	if (!ret->count || (search.has_chosen && !pattern_is(spec->function)))
		return probe_functions_explain_missing(&search);
	return check_offset(&search);
}
