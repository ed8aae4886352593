#include "symbol/line_builder.h"

#include "symbol/coroutine_name.h"
#include "symbol/demangle.h"

#include "base/alloc.h"
#include "base/strtab.h"

#include <string.h>

struct line_builder {
	struct arena arena;
	struct strtab *linker_names;
	struct strtab *coroutines; /* the names of their bodies */
	const char **readable;	   /* demangled names, by linker name */
	uint32_t readable_count, readable_room;
};

struct line_builder *line_builder_new(void)
{
	struct line_builder *builder = xcalloc(1, sizeof(*builder));

	builder->linker_names = strtab_new();
	builder->coroutines = strtab_new();
	GROW(builder->readable, builder->readable_count, builder->readable_room);
	builder->readable[builder->readable_count++] = ""; /* string 0 */
	return builder;
}

void line_builder_free(struct line_builder *builder)
{
	if (!builder)
		return;
	arena_deinit(&builder->arena);
	strtab_free(builder->linker_names);
	strtab_free(builder->coroutines);
	free(builder->readable);
	free(builder);
}

struct arena *line_builder_arena(struct line_builder *builder)
{
	return &builder->arena;
}

static void set_name(struct line_builder *builder, struct symbolized_line *line,
		     const char *linker_name)
{
	string_id id = strtab_add(builder->linker_names, linker_name);

	line->system_name = strtab_get(builder->linker_names, id);
	if (id == builder->readable_count) {
		CLEANUP(free_ptr) char *name = demangle(linker_name);

		GROW(builder->readable, builder->readable_count, builder->readable_room);
		builder->readable[builder->readable_count++] =
			name ? arena_strndup(&builder->arena, name, strlen(name))
			     : line->system_name;
	}
	line->name = builder->readable[id];
}

/* A linker name calls the body of an async function a closure; DWARF tells. */
static void set_coroutine(struct line_builder *builder, struct symbolized_line *line,
			  const struct call *call)
{
	const char *plain = call->is_linkage_name ? call->plain_name : call->name;
	CLEANUP(free_ptr) char *name = coroutine_name(line->name, plain);

	if (name)
		line->name = strtab_get(builder->coroutines, strtab_add(builder->coroutines, name));
}

/*
 * The line belongs to the file of the code, which can differ from the file that declares the
 * function (included code). The function's start line is not used then.
 */
static void set_place(struct symbolized_line *line, const struct call *call)
{
	const char *declared = call->decl_file;

	line->file = call->file ? call->file : declared ? declared : "";
	line->line = call->line;
	if (!declared || !call->file || !strcmp(declared, call->file))
		line->start_line = call->start_line;
}

/* glibc has several names for one function: clone3, __clone3 and, internally, __GI___clone3. */
static const char *without_alias_prefix(const char *name)
{
	if (!strncmp(name, "__GI_", 5))
		name += 5;
	return name + strspn(name, "_");
}

/*
 * The symbol says which clone of the function it is. If it is the symbol of another function, the
 * two were folded into one, and DWARF's lines are used.
 */
static bool is_named_by(const struct call *call, const struct symbol *symbol)
{
	const char *linkage_name;

	if (!symbol || !call->is_linkage_name || !call->name)
		return symbol;
	/* No linker folds these: __GI___libc_malloc is malloc. */
	if (!strncmp(call->name, "__GI_", 5))
		return true;
	linkage_name = without_alias_prefix(call->name);
	return !strncmp(without_alias_prefix(symbol->name), linkage_name, strlen(linkage_name));
}

/* symbol: NULL for an inlined call. Returns false if the call has no name. */
static bool set_call(struct line_builder *builder, struct symbolized_line *line,
		     const struct call *call, const struct symbol *symbol)
{
	*line = (struct symbolized_line){.file = ""};
	set_place(line, call);
	if (is_named_by(call, symbol))
		set_name(builder, line, symbol->name);
	else if (call->is_linkage_name)
		set_name(builder, line, call->name);
	else
		line->name = line->system_name = call->name;
	if (line->name)
		set_coroutine(builder, line, call);
	return line->name;
}

struct symbolized line_builder_lines(struct line_builder *builder, const struct source *source,
				     uint64_t vaddr, struct inline_chain chain)
{
	static const struct call unknown = {0};
	struct symbolized naming = {0};
	struct symbol symbol;
	bool has_symbol = symtab_find(source->symtab, vaddr, &builder->arena, &symbol);
	struct symbolized_line *lines;

	if (!chain.count)
		chain = (struct inline_chain){.calls = &unknown, .count = 1};
	lines = arena_alloc(&builder->arena, chain.count * sizeof(*lines));
	for (unsigned i = 0; i < chain.count; i++) {
		bool is_outermost = i + 1 == chain.count;

		naming.count += set_call(builder, &lines[naming.count], &chain.calls[i],
					 is_outermost && has_symbol ? &symbol : NULL);
	}
	naming.lines = lines;
	return naming;
}

struct symbolized line_builder_listed(struct line_builder *builder, const char *name,
				      const struct listed_line *place)
{
	struct symbolized_line *line;

	if (!name)
		return (struct symbolized){0};
	line = arena_alloc(&builder->arena, sizeof(*line));
	*line = (struct symbolized_line){.file = ""};
	if (place && place->file)
		*line = (struct symbolized_line){.file = place->file, .line = place->line};
	set_name(builder, line, name);
	return (struct symbolized){.lines = line, .count = 1};
}
