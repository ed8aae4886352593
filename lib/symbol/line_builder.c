#include "symbol/line_builder.h"

#include "base/text.h"
#include "symbol/coroutine_name.h"
#include "symbol/demangle.h"

#include "base/alloc.h"
#include "base/strtab.h"
#include "profile/fragment.h"

#include <ctype.h>
#include <string.h>

/* How a linkage name is interpreted. */
enum line_builder_reading {
	READ_FUNCTION, /* name of the whole function: "f" for "f.cold" */
	READ_WHOLE,    /* keeps suffixes, for Go and JIT code */
	/*
	 * For a program with Ada code. Parts get the name of the whole
	 * function, too.
	 */
	READ_ADA,
	READINGS,
};

struct readable {
	const char *names[READINGS]; /* NULL if not requested yet */
};

/* Demangling this much takes one or two seconds. */
enum { DEMANGLED_BYTES_MAX = 128 << 20 };

struct line_builder {
	struct arena arena;
	size_t demangled_bytes_left;
	struct strtab *linker_names;
	struct strtab *coroutines; /* names of coroutine bodies */
	struct readable *readable; /* by linkage name */
	uint32_t readable_count, readable_room;
};

struct line_builder *line_builder_new(void)
{
	struct line_builder *builder = xcalloc(1, sizeof(*builder));

	builder->demangled_bytes_left = DEMANGLED_BYTES_MAX;
	builder->linker_names = strtab_new();
	builder->coroutines = strtab_new();
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

/*
 * Recognizes "pkg__child__proc", "pkg___elabb", "_ada_main". C names can look
 * the same.
 */
static bool is_like_ada(const char *name)
{
	const char *at = islower((unsigned char)name[0]) ? strstr(name, "__") : NULL;

	return (at && at[2]) || text_begins(name, "_ada_");
}

static const char *line_builder_read_name(struct line_builder *builder, const char *linker_name,
					  enum line_builder_reading reading)
{
	size_t len = reading == READ_WHOLE ? strlen(linker_name)
					   : fragment_function_length(linker_name);
	const char *function = linker_name[len] ? arena_strndup(&builder->arena, linker_name, len)
						: linker_name;
	CLEANUP(free_ptr)
	char *name = reading == READ_ADA
			     ? demangle_ada(function)
			     : demangle_within(function, &builder->demangled_bytes_left);

	if (!name && reading == READ_ADA)
		name = demangle_within(function, &builder->demangled_bytes_left);
	return name ? arena_strndup(&builder->arena, name, strlen(name)) : function;
}

static const char *line_builder_readable_name(struct line_builder *builder, string_id id,
					      enum line_builder_reading reading)
{
	const char **name;

	while (builder->readable_count <= id) {
		GROW(builder->readable, builder->readable_count, builder->readable_room);
		builder->readable[builder->readable_count++] = (struct readable){0};
	}
	name = &builder->readable[id].names[reading];
	if (!*name)
		*name = line_builder_read_name(builder, strtab_get(builder->linker_names, id),
					       reading);
	return *name;
}

static void set_name(struct line_builder *builder, struct symbolized_line *line,
		     const char *linker_name, enum line_builder_reading reading)
{
	string_id id = strtab_add(builder->linker_names, linker_name);

	line->system_name = strtab_get(builder->linker_names, id);
	line->name = line_builder_readable_name(builder, id, reading);
}

static bool is_mangled(const char *name)
{
	return text_begins(name, "_Z") || text_begins(name, "_R");
}

bool line_builder_can_demangle(void *builder, const char *linker_name)
{
	struct line_builder *self = builder;
	string_id id;

	if (!is_mangled(linker_name))
		return true;
	id = strtab_add(self->linker_names, linker_name);
	return !is_mangled(line_builder_readable_name(self, id, READ_FUNCTION));
}

/*
 * Sets the name of an async function's body. Its linkage name is that of a
 * closure; only DWARF contains the kind.
 */
static void set_coroutine(struct line_builder *builder, struct symbolized_line *line,
			  const struct call *call)
{
	const char *plain = call->is_linkage_name ? call->plain_name : call->name;
	CLEANUP(free_ptr) char *name = coroutine_name(line->name, plain);

	if (name)
		line->name = strtab_get(builder->coroutines, strtab_add(builder->coroutines, name));
}

/*
 * Sets file and line. The line belongs to the file of the code, which can
 * differ from the file that declares the function (included code). The
 * function's start line is not used in that case.
 */
static void set_place(struct symbolized_line *line, const struct call *call)
{
	const char *declared = call->decl_file;

	line->file = call->file ? call->file : declared ? declared : "";
	line->line = call->line;
	if (!declared || !call->file || !strcmp(declared, call->file))
		line->start_line = call->start_line;
}

/*
 * Removes a prefix of glibc's aliases. A function can have several names:
 * clone3, __clone3 and, internally, __GI___clone3.
 */
static const char *without_alias_prefix(const char *name)
{
	if (text_begins(name, "__GI_"))
		name += 5;
	return name + strspn(name, "_");
}

/*
 * Returns true if the symbol names the function of the call, as itself or as a
 * clone. If it does not, the linker has folded the two functions, and the name
 * that belongs to DWARF's lines is used.
 */
static bool is_named_by(const struct call *call, const struct symbol *symbol)
{
	const char *linkage_name;

	if (!symbol || !call->is_linkage_name || !call->name)
		return symbol;
	/* No linker folds these: __GI___libc_malloc is malloc. */
	if (text_begins(call->name, "__GI_"))
		return true;
	linkage_name = without_alias_prefix(call->name);
	return text_begins(without_alias_prefix(symbol->name), linkage_name);
}

/* The origin of a name. */
struct line_builder_origin {
	const struct source *source;
	bool is_go; /* the function is a Go function */
};

static enum line_builder_reading reading_of(const struct line_builder_origin *origin,
					    const char *linker_name)
{
	if (origin->is_go)
		return READ_WHOLE;
	return is_like_ada(linker_name) && symtab_is_of_ada(origin->source->symtab) ? READ_ADA
										    : READ_FUNCTION;
}

/*
 * Sets a line from a call. `symbol` is NULL for an inlined call. Returns false
 * if the call has no name.
 */
static bool set_call(struct line_builder *builder, struct symbolized_line *line,
		     const struct call *call, const struct symbol *symbol,
		     const struct line_builder_origin *origin)
{
	const char *name = is_named_by(call, symbol) ? symbol->name : call->name;
	const char *scoped = call->is_linkage_name ? call->plain_name : call->name;
	enum line_builder_reading reading = name ? reading_of(origin, name) : READ_WHOLE;

	*line = (struct symbolized_line){.file = ""};
	set_place(line, call);
	if (name && (name != call->name || call->is_linkage_name || reading == READ_ADA))
		set_name(builder, line, name, reading);
	else
		line->name = line->system_name = name;
	if (line->name && is_mangled(line->name) && scoped)
		line->name = scoped;
	else if (line->name)
		set_coroutine(builder, line, call);
	return line->name;
}

struct symbolized line_builder_lines(struct line_builder *builder, const struct source *source,
				     uint64_t vaddr, struct inline_chain chain)
{
	static const struct call unknown = {0};
	const struct line_builder_origin origin = {source,
						   source->go && gopclntab_has(source->go, vaddr)};
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
					 is_outermost && has_symbol ? &symbol : NULL, &origin);
	}
	naming.lines = lines;
	return naming;
}

struct symbolized line_builder_kernel(struct line_builder *builder, const char *name)
{
	struct symbolized_line *line;

	if (!name)
		return (struct symbolized){0};
	line = arena_alloc(&builder->arena, sizeof(*line));
	*line = (struct symbolized_line){.file = ""};
	set_name(builder, line, name, READ_FUNCTION);
	return (struct symbolized){.lines = line, .count = 1};
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
	set_name(builder, line, name, READ_WHOLE);
	return (struct symbolized){.lines = line, .count = 1};
}
