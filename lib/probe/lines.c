#include "base/alloc.h"
#include "base/arena.h"
#include "base/hash.h"
#include "dwarf/dwarf.h"
#include "dwarf/search.h"
#include "probe/question.h"
#include "symbol/demangle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* An address of the line, and the copy of its function that contains it. */
struct line_place {
	uint64_t vaddr;
	uint64_t copy;
	const char *function; /* NULL if unknown */
};

static int by_vaddr(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static int by_copy(const void *left, const void *right)
{
	const struct line_place *a = left, *b = right;

	if (a->copy != b->copy)
		return a->copy < b->copy ? -1 : 1;
	return by_vaddr(&a->vaddr, &b->vaddr);
}

/*
 * Returns a hash of the chain's calls, except the line of the innermost
 * function. It identifies a copy of the function.
 */
static uint64_t lines_copy_of(const struct inline_chain *chain)
{
	uint64_t hash = 0;

	for (unsigned i = 0; i < chain->count; i++) {
		const struct call *call = &chain->calls[i];

		if (call->name)
			hash = hash_mix(hash, hash_bytes(call->name, strlen(call->name)));
		if (i)
			hash = hash_mix(hash, call->line);
	}
	return hash;
}

static struct line_place lines_place_of(const struct dwarf *dwarf, uint64_t vaddr,
					struct arena *arena)
{
	struct line_place place = {.vaddr = vaddr};
	struct inline_chain chain = {0};
	uint32_t unit = dwarf_unit_of(dwarf, vaddr);

	if (unit != DWARF_NO_UNIT && dwarf_resolve(dwarf, unit, &vaddr, 1, NULL, arena, &chain) &&
	    chain.count) {
		place.copy = lines_copy_of(&chain);
		place.function = chain.calls[0].name;
	}
	return place;
}

/*
 * Adds one place for each copy of a function: its first instruction on the
 * line.
 */
static void lines_add_places(const struct probe_question *question,
			     const struct dwarf_line_search *search, struct probe_places *ret)
{
	const struct probe_spec *spec = question->spec;
	CLEANUP(arena_deinit) struct arena arena = {0};
	CLEANUP(dwarf_cleanup)
	struct dwarf *dwarf = dwarf_new(question->debug ? question->debug : question->elf,
					question->alt);
	CLEANUP(free_ptr)
	struct line_place *places = xcalloc(search->count, sizeof(*places));

	dwarf_keep_contents(dwarf);
	for (size_t i = 0; i < search->count; i++)
		places[i] = lines_place_of(dwarf, search->vaddrs[i], &arena);
	qsort(places, search->count, sizeof(*places), by_copy);
	for (size_t i = 0; i < search->count; i++) {
		const char *function = places[i].function;
		CLEANUP(free_ptr) char *full = function ? demangle(function) : NULL;
		CLEANUP(free_ptr) char *name = NULL;
		uint64_t offset = 0;

		if (i && places[i].copy == places[i - 1].copy)
			continue;
		name = xasprintf("%s:%" PRIu32 " in %s", spec->file, spec->line,
				 full	    ? full
				 : function ? function
					    : "an unknown function");
		if (elf_file_vaddr_to_offset(question->elf, places[i].vaddr, &offset))
			probe_places_add(ret, offset, 0, name);
	}
}

static struct error *lines_explain(const struct probe_spec *spec,
				   const struct dwarf_line_search *search)
{
	struct error *err;

	if (!search->has_file)
		return error_hint(error_new("it has no code from a file named %s", spec->file),
				  "lines need debug information; the end of a path is enough: "
				  "src/main.rs:120");
	err = error_new("it has no code at %s:%" PRIu32, spec->file, spec->line);
	if (search->before && search->after)
		return error_hint(err, "the nearest lines with code are %" PRIu32 " and %" PRIu32,
				  search->before, search->after);
	return error_hint(err, "the nearest line with code is %" PRIu32,
			  search->before ? search->before : search->after);
}

struct error *probe_find_lines(const struct probe_question *question, struct probe_places *ret)
{
	const struct probe_spec *spec = question->spec;
	CLEANUP(dwarf_line_search_deinit)
	struct dwarf_line_search search = {.file = spec->file, .line = spec->line};

	dwarf_search_line(&search, question->debug ? question->debug : question->elf,
			  question->alt);
	if (search.count) {
		qsort(search.vaddrs, search.count, sizeof(*search.vaddrs), by_vaddr);
		lines_add_places(question, &search, ret);
	}
	return ret->count ? NULL : lines_explain(spec, &search);
}
