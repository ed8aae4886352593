#include "dwarf/dwarf.h"

#include "base/alloc.h"
#include "dwarf/chain.h"
#include "dwarf/index.h"
#include "dwarf/name.h"
#include "dwarf/sections.h"
#include "dwarf/split.h"

#include <stdlib.h>

/* The positions of a unit's functions and line sequences. */
struct contents {
	struct dwarf_range_index functions; /* entries in .debug_info */
	struct dwarf_range_index sequences; /* sequences of the line program */
};

struct dwarf {
	/* File that contains `debug`; NULL for sections without a file. */
	struct elf_file *elf;
	struct dwarf_file debug, alt;
	bool has_alt;
	struct dwarf_index index;
	struct dwarf_splits *splits; /* NULL if split units are not read */
	struct contents *contents;   /* by unit of `debug`; NULL if not kept */
	struct dwarf_sharing sharing;
};

static void run_in_turn(void *user, size_t parts, void (*work)(void *context, size_t part),
			void *context)
{
	(void)user;
	for (size_t i = 0; i < parts; i++)
		work(context, i);
}

struct dwarf *dwarf_of_sections(const struct dwarf_sections *debug,
				const struct dwarf_sections *alt)
{
	struct dwarf *dwarf = xcalloc(1, sizeof(*dwarf));

	dwarf_file_init(&dwarf->debug, debug);
	dwarf->has_alt = alt;
	if (alt)
		dwarf_file_init(&dwarf->alt, alt);
	dwarf_index_init(&dwarf->index, &dwarf->debug);
	dwarf->sharing = (struct dwarf_sharing){.part_bytes = UINT64_MAX, .run = run_in_turn};
	return dwarf;
}

void dwarf_share_units(struct dwarf *dwarf, const struct dwarf_sharing *sharing)
{
	dwarf->sharing = *sharing;
}

/*
 * Drops pages that have been read and are not needed again, because large
 * programs have hundreds of megabytes of debug information.
 */
static void dwarf_release(const struct elf_file *elf, struct bytes part)
{
	if (elf)
		elf_file_release(elf, part);
}

struct dwarf *dwarf_new(struct elf_file *debug, struct elf_file *alt)
{
	struct dwarf_sections debug_sections = dwarf_sections_of(debug);
	struct dwarf_sections alt_sections;
	struct dwarf *dwarf;

	if (!bytes_left(&debug_sections.of[DWARF_INFO]))
		return NULL;
	if (alt)
		alt_sections = dwarf_sections_of(alt);
	dwarf = dwarf_of_sections(&debug_sections, alt ? &alt_sections : NULL);
	dwarf->elf = debug;
	dwarf_release(debug, debug_sections.of[DWARF_INFO]);
	dwarf_release(debug, debug_sections.of[DWARF_RANGES]);
	dwarf_release(debug, debug_sections.of[DWARF_RNGLISTS]);
	return dwarf;
}

void dwarf_free(struct dwarf *dwarf)
{
	if (!dwarf)
		return;
	for (size_t i = 0; dwarf->contents && i < dwarf->debug.unit_count; i++) {
		dwarf_range_index_deinit(&dwarf->contents[i].functions);
		dwarf_range_index_deinit(&dwarf->contents[i].sequences);
	}
	free(dwarf->contents);
	dwarf_splits_free(dwarf->splits);
	dwarf_file_deinit(&dwarf->debug);
	dwarf_file_deinit(&dwarf->alt);
	dwarf_index_deinit(&dwarf->index);
	free(dwarf);
}

void dwarf_keep_contents(struct dwarf *dwarf)
{
	if (!dwarf->contents)
		dwarf->contents = xcalloc(dwarf->debug.unit_count, sizeof(*dwarf->contents));
	if (dwarf->splits)
		dwarf_splits_keep(dwarf->splits);
}

void dwarf_follow_splits(struct dwarf *dwarf, struct elf_file *program,
			 const struct debugfile_opener *opener)
{
	if (!dwarf->index.skeletons || dwarf->splits)
		return;
	dwarf->splits = dwarf_splits_new(&dwarf->debug, &(struct dwarf_split_places){
								.program = program,
								.debug = dwarf->elf,
								.opener = opener,
							});
	if (dwarf->contents)
		dwarf_splits_keep(dwarf->splits);
}

static char *path_of_split(const struct dwarf *dwarf, const struct dwarf_unit *skeleton)
{
	struct dwarf_reader reader;
	struct arena arena = {0};
	char *path;

	dwarf_reader_init(&reader, &dwarf->debug, NULL, &arena);
	path = dwarf_splits_path(dwarf->splits,
				 &dwarf_reader_open(&reader, &dwarf->debug, skeleton)->view);
	dwarf_reader_deinit(&reader);
	arena_deinit(&arena);
	return path;
}

struct dwarf_split_counts dwarf_split_counts(const struct dwarf *dwarf)
{
	struct dwarf_split_counts counts = {.units = dwarf->index.skeletons};
	const struct dwarf_unit *first = NULL;

	if (!dwarf->splits)
		return counts;
	counts.missing = dwarf_splits_missing(dwarf->splits, &first);
	counts.has_changed = dwarf_splits_changed(dwarf->splits);
	counts.example = first ? path_of_split(dwarf, first) : NULL;
	return counts;
}

uint32_t dwarf_unit_of(const struct dwarf *dwarf, uint64_t vaddr)
{
	return dwarf_index_find(&dwarf->index, vaddr);
}

bool dwarf_has_unread(const struct dwarf *dwarf)
{
	return dwarf->index.has_unread;
}

uint64_t dwarf_unit_bytes(const struct dwarf *dwarf, uint32_t unit)
{
	return dwarf->debug.units[unit].end - dwarf->debug.units[unit].offset;
}

/* The state of one dwarf_resolve(). */
struct dwarf_resolving {
	struct dwarf_reader reader;
	struct dwarf_reader skeleton; /* used if is_split is true */
	struct dwarf_split split;
	bool is_split;
	struct dwarf_opened *unit;
	struct dwarf_names names;
	struct dwarf_scopes scopes;
	size_t count;
	uint32_t *innermost; /* innermost scope by address */
	struct dwarf_place *places;
};

/*
 * Continues with the split unit if this is a skeleton unit and the split unit
 * is found.
 */
static void follow_split(struct dwarf_resolving *resolving, const struct dwarf *dwarf,
			 struct arena *arena)
{
	const struct dwarf_view *view = &resolving->unit->view;
	struct dwarf_split *split = &resolving->split;

	if (!view->root.is_skeleton || !dwarf->splits ||
	    !dwarf_splits_open(dwarf->splits, view, split))
		return;
	resolving->is_split = true;
	resolving->skeleton = resolving->reader;
	dwarf_reader_init_split(&resolving->reader, split->file, split->unit, view, arena);
	resolving->unit = dwarf_reader_open(&resolving->reader, split->file, split->unit);
}

/*
 * The two searches of a unit: for functions in its entries, and for lines in
 * its line program.
 */
struct searches {
	struct dwarf_scope_search *scopes;
	struct dwarf_line_finder *lines;
};

static void dwarf_run_part(void *context, size_t part)
{
	const struct searches *searches = context;
	const size_t parts = dwarf_scope_search_parts(searches->scopes);

	if (part < parts)
		dwarf_scope_search_run(searches->scopes, part);
	else
		dwarf_line_finder_run(searches->lines, part - parts);
}

static void dwarf_search(struct dwarf_resolving *resolving, const struct dwarf_sharing *sharing,
			 struct contents *contents, const uint64_t *vaddrs)
{
	const size_t count = resolving->count;
	struct searches searches = {
		.scopes = dwarf_scope_search_new(&resolving->unit->view,
						 contents ? &contents->functions : NULL, vaddrs,
						 count, sharing->part_bytes),
		.lines = dwarf_line_finder_new(
			dwarf_reader_lines(&resolving->reader, resolving->unit),
			contents ? &contents->sequences : NULL, vaddrs, count, sharing->part_bytes),
	};
	const size_t parts = dwarf_scope_search_parts(searches.scopes) +
			     dwarf_line_finder_parts(searches.lines);

	if (parts > 2)
		sharing->run(sharing->user, parts, dwarf_run_part, &searches);
	else
		run_in_turn(NULL, parts, dwarf_run_part, &searches);
	dwarf_scope_search_finish(searches.scopes, &resolving->scopes, resolving->innermost);
	dwarf_line_finder_finish(searches.lines, resolving->places);
}

static void resolving_init(struct dwarf_resolving *resolving, const struct dwarf *dwarf,
			   uint32_t unit, const uint64_t *vaddrs, size_t count, struct arena *arena)
{
	struct contents *contents = dwarf->contents ? &dwarf->contents[unit] : NULL;

	*resolving = (struct dwarf_resolving){.count = count};
	dwarf_reader_init(&resolving->reader, &dwarf->debug, dwarf->has_alt ? &dwarf->alt : NULL,
			  arena);
	resolving->unit = dwarf_reader_open(&resolving->reader, &dwarf->debug,
					    &dwarf->debug.units[unit]);
	follow_split(resolving, dwarf, arena);
	dwarf_names_init(&resolving->names, &resolving->reader);
	resolving->innermost = xcalloc(count, sizeof(*resolving->innermost));
	resolving->places = xcalloc(count, sizeof(*resolving->places));
	dwarf_search(resolving, &dwarf->sharing, contents, vaddrs);
}

/* Releases the pages that were read. */
static void release_unit(struct dwarf_resolving *resolving, const struct dwarf *dwarf,
			 uint32_t unit)
{
	const struct dwarf_split *split = &resolving->split;

	if (resolving->is_split)
		dwarf_release(split->elf, dwarf_unit_contents(split->file, split->unit));
	dwarf_release(dwarf->elf, dwarf_unit_contents(&dwarf->debug, &dwarf->debug.units[unit]));
	dwarf_release(dwarf->elf,
		      dwarf_lines_bytes(dwarf_reader_lines(&resolving->reader, resolving->unit)));
}

static void resolving_deinit(struct dwarf_resolving *resolving, const struct dwarf *dwarf)
{
	free(resolving->places);
	free(resolving->innermost);
	dwarf_scopes_deinit(&resolving->scopes);
	dwarf_names_deinit(&resolving->names);
	dwarf_reader_deinit(&resolving->reader);
	if (!resolving->is_split)
		return;
	dwarf_reader_deinit(&resolving->skeleton);
	dwarf_splits_close(dwarf->splits, &resolving->split);
}

static const struct dwarf_scope *scope_of(const struct dwarf_resolving *resolving, size_t i)
{
	uint32_t scope = resolving->innermost[i];

	return scope == DWARF_NO_SCOPE ? NULL : &resolving->scopes.items[scope];
}

/*
 * Returns the scope that this one is inlined into, or NULL if this is the
 * physical function.
 */
static const struct dwarf_scope *caller_of(const struct dwarf_resolving *resolving,
					   const struct dwarf_scope *scope)
{
	return scope->level ? &resolving->scopes.items[scope->parent] : NULL;
}

static void name_functions(struct dwarf_resolving *resolving)
{
	for (size_t i = 0; i < resolving->count; i++)
		for (const struct dwarf_scope *scope = scope_of(resolving, i); scope;
		     scope = caller_of(resolving, scope))
			dwarf_names_add(&resolving->names, scope->function);
	dwarf_names_qualify(&resolving->names);
}

static const char *dwarf_path_of(struct dwarf_resolving *resolving, uint64_t file)
{
	return dwarf_lines_path(dwarf_reader_lines(&resolving->reader, resolving->unit), file,
				resolving->reader.arena);
}

static void dwarf_fill_call(struct dwarf_resolving *resolving, const struct dwarf_scope *scope,
			    const struct dwarf_place *place, struct call *call)
{
	const uint32_t id = dwarf_names_add(&resolving->names, scope->function);
	const struct dwarf_function *function = &resolving->names.functions[id];

	*call = (struct call){
		.name = function->name,
		.is_linkage_name = function->is_linkage_name,
		.plain_name = function->plain_name,
		.start_line = function->decl_line,
		.decl_file = function->decl_file,
	};
	if (place->is_known) {
		call->file = dwarf_path_of(resolving, place->file);
		call->line = place->line;
	}
}

static struct inline_chain dwarf_chain_of(struct dwarf_resolving *resolving, size_t i)
{
	const struct dwarf_scope *scope = scope_of(resolving, i);
	struct dwarf_place place = resolving->places[i];
	unsigned count = scope ? scope->level + 1 : 1;
	struct call *calls;

	if (!scope && !place.is_known)
		return (struct inline_chain){0};
	calls = arena_alloc(resolving->reader.arena, count * sizeof(*calls));
	/* Assembly code has lines, but often no functions. */
	if (!scope)
		calls[0] = (struct call){.file = dwarf_path_of(resolving, place.file),
					 .line = place.line};
	for (struct call *call = calls; scope; scope = caller_of(resolving, scope)) {
		dwarf_fill_call(resolving, scope, &place, call++);
		place = (struct dwarf_place){scope->has_call_file, scope->call_line,
					     scope->call_file};
	}
	return (struct inline_chain){calls, count};
}

bool dwarf_resolve(const struct dwarf *dwarf, uint32_t unit, const uint64_t *vaddrs, size_t count,
		   const struct dwarf_demangler *demangler, struct arena *arena,
		   struct inline_chain *ret)
{
	struct dwarf_resolving resolving;
	bool is_read;

	resolving_init(&resolving, dwarf, unit, vaddrs, count, arena);
	resolving.names.demangler = demangler;
	name_functions(&resolving);
	for (size_t i = 0; i < count; i++)
		ret[i] = dwarf_chain_of(&resolving, i);
	release_unit(&resolving, dwarf, unit);
	is_read = !resolving.scopes.are_damaged &&
		  !dwarf_lines_are_unread(dwarf_reader_lines(&resolving.reader, resolving.unit));
	resolving_deinit(&resolving, dwarf);
	return is_read;
}
