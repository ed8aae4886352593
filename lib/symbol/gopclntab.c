#include "symbol/gopclntab.h"

#include "base/alloc.h"
#include "elf/go_table.h"

#include <string.h>

enum {
	INLINE_INDEX_TABLE = 2, /* PCDATA_InlTreeIndex */
	INLINE_TREE = 3,	/* FUNCDATA_InlTree */
	/*
	 * More than Go's compiler inlines. Bounds cycles in a malformed table.
	 */
	CALLS_MAX = 256,
};

#define NO_TREE UINT32_MAX

struct gopclntab {
	struct go_table table;
};

struct gopclntab_function {
	uint32_t start, end; /* relative to `text` */
	uint32_t name, start_line;
	uint32_t unit;
	uint32_t files, lines, inlined; /* offsets in `values`, or 0 for none */
	uint32_t tree;			/* offset in `trees`, or NO_TREE */
};

/* Returns an empty text if there is none. */
static struct bytes gopclntab_text_at(struct bytes strings, uint32_t offset)
{
	struct bytes at = bytes_at(strings, offset);

	return bytes_text(&at);
}

/* Returns NULL if there is no string. */
static const char *gopclntab_string_at(struct bytes strings, uint32_t offset, struct arena *arena)
{
	const char *string = arena_text(arena, gopclntab_text_at(strings, offset));

	return string && string[0] ? string : NULL;
}

struct gopclntab *gopclntab_new(struct elf_file *elf)
{
	CLEANUP(gopclntab_cleanup) struct gopclntab *table = xcalloc(1, sizeof(*table));

	return go_table_open(&table->table, elf) ? STEAL(table) : NULL;
}

void gopclntab_free(struct gopclntab *table)
{
	free(table);
}

/* Reads the lists after a _func: pc-value tables, then per-function data. */
static void read_lists(struct bytes at, uint32_t value_count, uint32_t data_count,
		       struct gopclntab_function *function)
{
	struct bytes values = at, data = bytes_at(at, value_count * UINT64_C(4));

	if (INLINE_INDEX_TABLE < value_count)
		function->inlined = bytes_u32_at(values, INLINE_INDEX_TABLE * 4);
	if (INLINE_TREE < data_count)
		function->tree = bytes_u32_at(data, INLINE_TREE * 4);
}

static bool gopclntab_find_function(const struct go_table *table, uint64_t vaddr,
				    struct gopclntab_function *ret)
{
	uint32_t index = go_table_find(table, vaddr - table->text);
	struct bytes at, lists;
	uint32_t value_count, data_count;

	if (index == table->count)
		return false;
	at = go_table_description(table, index);
	lists = bytes_at(at, table->layout->function_bytes);
	bytes_skip(&at, 4); /* the function's start */
	*ret = (struct gopclntab_function){
		.start = go_table_start(table, index),
		.end = go_table_start(table, index + 1),
		.tree = NO_TREE,
	};
	ret->name = bytes_u32(&at);
	bytes_skip(&at, 12); /* args, deferreturn, pcsp */
	ret->files = bytes_u32(&at);
	ret->lines = bytes_u32(&at);
	value_count = bytes_u32(&at);
	ret->unit = bytes_u32(&at);
	if (table->layout->start_line_at)
		ret->start_line = bytes_u32(&at);
	bytes_skip(&at, 3); /* funcID, flag, padding */
	data_count = bytes_u8(&at);
	read_lists(lists, value_count, data_count, ret);
	return bytes_ok(&at);
}

static const char *file_at(const struct go_table *table, const struct gopclntab_function *function,
			   uint64_t offset, struct arena *arena)
{
	int32_t file = go_table_value(table, function->files, offset);
	uint64_t entry = ((uint64_t)function->unit + (uint32_t)file) * 4;
	uint32_t name = bytes_u32_at(table->units, entry);

	return file < 0 || name == UINT32_MAX ? NULL
					      : gopclntab_string_at(table->files, name, arena);
}

static struct call gopclntab_call_at(const struct go_table *table,
				     const struct gopclntab_function *function, uint32_t name,
				     uint64_t offset, struct arena *arena)
{
	int32_t line = go_table_value(table, function->lines, offset);

	return (struct call){
		.name = gopclntab_string_at(table->names, name, arena),
		.start_line = function->start_line,
		.file = file_at(table, function, offset, arena),
		.line = line > 0 ? (uint32_t)line : 0,
	};
}

/*
 * Finds the innermost call inlined at the offset. Returns false if there is
 * none. *caller is the offset of an instruction of its caller.
 */
static bool inlined_at(const struct go_table *table, const struct gopclntab_function *function,
		       uint64_t offset, struct call *ret, uint32_t *caller, struct arena *arena)
{
	const struct go_layout *layout = table->layout;
	int32_t index = function->tree == NO_TREE
				? -1
				: go_table_value(table, function->inlined, offset);
	struct bytes at;

	if (index < 0)
		return false;
	at = bytes_at(table->trees, function->tree + (uint64_t)index * layout->inlined_bytes);
	at = bytes_sub(&at, layout->inlined_bytes);
	*ret = gopclntab_call_at(table, function, bytes_u32_at(at, layout->name_at), offset, arena);
	ret->start_line = layout->start_line_at ? bytes_u32_at(at, layout->start_line_at) : 0;
	*caller = bytes_u32_at(at, layout->caller_at);
	return bytes_ok(&at) && ret->name;
}

static bool gopclntab_has_name(const struct go_table *table, uint64_t vaddr,
			       struct gopclntab_function *function)
{
	struct bytes name;

	if (!gopclntab_find_function(table, vaddr, function))
		return false;
	name = gopclntab_text_at(table->names, function->name);
	return bytes_left(&name) > 0;
}

bool gopclntab_has(const struct gopclntab *table, uint64_t vaddr)
{
	struct gopclntab_function function;

	return gopclntab_has_name(&table->table, vaddr, &function);
}

bool gopclntab_find(const struct gopclntab *gopclntab, uint64_t vaddr, struct arena *arena,
		    struct symbol *ret)
{
	const struct go_table *table = &gopclntab->table;
	struct gopclntab_function function;

	if (!gopclntab_find_function(table, vaddr, &function))
		return false;
	*ret = (struct symbol){
		.vaddr = table->text + function.start,
		.size_bytes = function.end - function.start,
		.name = gopclntab_string_at(table->names, function.name, arena),
	};
	return ret->name;
}

struct inline_chain gopclntab_resolve(const struct gopclntab *gopclntab, uint64_t vaddr,
				      struct arena *arena)
{
	const struct go_table *table = &gopclntab->table;
	struct call calls[CALLS_MAX], *kept;
	struct gopclntab_function function;
	unsigned count = 0;
	uint32_t offset, caller;

	if (!gopclntab_has_name(table, vaddr, &function))
		return (struct inline_chain){0};
	offset = (uint32_t)(vaddr - table->text) - function.start;
	while (count + 1 < CALLS_MAX &&
	       inlined_at(table, &function, offset, &calls[count], &caller, arena)) {
		offset = caller;
		count++;
	}
	calls[count] = gopclntab_call_at(table, &function, function.name, offset, arena);
	if (!calls[count].name) /* the file has changed during the read */
		return (struct inline_chain){0};
	count++;
	kept = arena_alloc(arena, count * sizeof(*calls));
	memcpy(kept, calls, count * sizeof(*calls));
	return (struct inline_chain){.calls = kept, .count = count};
}
