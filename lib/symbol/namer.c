#include "symbol/namer.h"

#include "symbol/demangle.h"

#include "base/alloc.h"
#include "base/strtab.h"

#include <string.h>

struct namer {
	struct arena arena;
	struct strtab *linker_names;
	const char **readable; /* by linker name */
	uint32_t readable_count, readable_room;
};

struct namer *namer_new(void)
{
	struct namer *namer = xcalloc(1, sizeof(*namer));

	namer->linker_names = strtab_new();
	GROW(namer->readable, namer->readable_count, namer->readable_room);
	namer->readable[namer->readable_count++] = ""; /* string 0 */
	return namer;
}

void namer_free(struct namer *namer)
{
	if (!namer)
		return;
	arena_deinit(&namer->arena);
	strtab_free(namer->linker_names);
	free(namer->readable);
	free(namer);
}

struct arena *namer_arena(struct namer *namer)
{
	return &namer->arena;
}

static void set_name(struct namer *namer, struct named_line *line, const char *linker_name)
{
	string_id id = strtab_add(namer->linker_names, linker_name);

	line->system_name = strtab_get(namer->linker_names, id);
	if (id == namer->readable_count) {
		CLEANUP(free_ptr) char *name = demangle(linker_name);

		GROW(namer->readable, namer->readable_count, namer->readable_room);
		namer->readable[namer->readable_count++] =
			name ? arena_strndup(&namer->arena, name, strlen(name)) : line->system_name;
	}
	line->name = namer->readable[id];
}

/*
 * The line that ran belongs to the file it is in, which may be another than the one that declares
 * the function (code that is included); the function's first line is then of no use.
 */
static void set_place(struct named_line *line, const struct call *call)
{
	const char *declared = call->decl_file;

	line->file = call->file ? call->file : declared ? declared : "";
	line->line = call->line;
	if (!declared || !call->file || !strcmp(declared, call->file))
		line->start_line = call->start_line;
}

/* glibc calls one function clone3, __clone3 and, for its own use, __GI___clone3. */
static const char *without_alias_prefix(const char *name)
{
	if (!strncmp(name, "__GI_", 5))
		name += 5;
	return name + strspn(name, "_");
}

/*
 * The symbol says which clone of the function it is. Where it is another function's, both have been
 * folded into one, and the lines are those of DWARF's.
 */
static bool is_named_by(const struct call *call, const struct symbol *symbol)
{
	const char *linkage_name;

	if (!symbol || !call->is_linkage_name || !call->name)
		return symbol;
	linkage_name = without_alias_prefix(call->name);
	return !strncmp(without_alias_prefix(symbol->name), linkage_name, strlen(linkage_name));
}

/* symbol: NULL for an inlined call. False when the call has no name. */
static bool set_call(struct namer *namer, struct named_line *line, const struct call *call,
		     const struct symbol *symbol)
{
	*line = (struct named_line){.file = ""};
	set_place(line, call);
	if (is_named_by(call, symbol))
		set_name(namer, line, symbol->name);
	else if (call->is_linkage_name)
		set_name(namer, line, call->name);
	else
		line->name = line->system_name = call->name;
	return line->name;
}

struct naming namer_name(struct namer *namer, const struct source *source, uint64_t vaddr,
			 struct inline_chain chain)
{
	static const struct call unknown = {0};
	struct naming naming = {0};
	struct symbol symbol;
	bool has_symbol = symtab_find(source->symtab, vaddr, &namer->arena, &symbol);
	struct named_line *lines;

	if (!chain.count)
		chain = (struct inline_chain){.calls = &unknown, .count = 1};
	lines = arena_alloc(&namer->arena, chain.count * sizeof(*lines));
	for (unsigned i = 0; i < chain.count; i++) {
		bool is_outermost = i + 1 == chain.count;

		naming.count += set_call(namer, &lines[naming.count], &chain.calls[i],
					 is_outermost && has_symbol ? &symbol : NULL);
	}
	naming.lines = lines;
	return naming;
}

struct naming namer_name_listed(struct namer *namer, const char *name)
{
	struct named_line *line;

	if (!name)
		return (struct naming){0};
	line = arena_alloc(&namer->arena, sizeof(*line));
	*line = (struct named_line){.file = ""};
	set_name(namer, line, name);
	return (struct naming){.lines = line, .count = 1};
}
