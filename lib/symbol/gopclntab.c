#include "symbol/gopclntab.h"

#include "base/alloc.h"

#include <string.h>

/* The layout, which depends on the version of Go. */
struct layout {
	uint32_t magic;
	unsigned function_bytes; /* size of a _func, without its lists of tables */
	unsigned inlined_bytes;	 /* size of an inlinedCall */
	unsigned name_at, caller_at;
	unsigned start_line_at; /* offset of the start line in _func; 0: none */
	unsigned trees_word;	/* index of gofunc in moduledata */
};

static const struct layout layouts[] = {
	{
		.magic = 0xfffffff0, /* Go 1.18 and 1.19 */
		.function_bytes = 40,
		.inlined_bytes = 20,
		.name_at = 12,
		.caller_at = 16,
		.trees_word = 38,
	},
	{
		.magic = 0xfffffff1, /* since Go 1.20 */
		.function_bytes = 44,
		.inlined_bytes = 16,
		.name_at = 4,
		.caller_at = 8,
		.start_line_at = 12,
		.trees_word = 40,
	},
};

/* Indices of words of moduledata, which the linker writes into the program's data. */
enum module_word {
	MODULE_HEADER = 0,
	MODULE_NAMES = 1,
	MODULE_TEXT = 22,
};

enum {
	HEADER_ALIGNMENT = 8,
	INLINE_INDEX_TABLE = 2, /* PCDATA_InlTreeIndex */
	INLINE_TREE = 3,	/* FUNCDATA_InlTree */
	/* More than Go's compiler inlines; a cycle in a malformed table must end. */
	CALLS_MAX = 256,
	/* A function of a megabyte of code has pc-value tables of 200 KB. */
	VALUES_BYTES_MAX = 1 << 20,
	/* Of sections that are searched word by word. The largest Go programs have 200 MB in all.
	 */
	SEARCH_BYTES_MAX = 256 << 20,
};

#define NO_TREE UINT32_MAX

struct gopclntab {
	const struct layout *layout;
	unsigned quantum;    /* bytes per unit of address (pc quantum) */
	unsigned word_bytes; /* of a pointer */
	uint32_t count;	     /* of functions */
	uint64_t text;	     /* the vaddr that function addresses are relative to */
	struct bytes names;
	struct bytes units;	/* by compilation unit: offsets of its file names */
	struct bytes files;	/* file names */
	struct bytes values;	/* pc-value tables: lines, files, inlined calls */
	struct bytes functions; /* addresses and offsets of the descriptions, then the descriptions
				   (_func) */
	struct bytes trees;	/* trees of inlined calls */
};

struct function {
	uint32_t start, end; /* from `text` */
	uint32_t name, start_line;
	uint32_t unit;
	uint32_t files, lines, inlined; /* offsets in `values`; 0: none */
	uint32_t tree;			/* offset in `trees`, or NO_TREE */
};

static uint32_t u32_at(struct bytes bytes, uint64_t offset)
{
	struct bytes at = bytes_at(bytes, offset);

	return bytes_u32(&at);
}

static struct bytes at_most(struct bytes bytes, size_t len)
{
	if (bytes_left(&bytes) > len)
		bytes.end = bytes.at + len;
	return bytes;
}

/* Empty if there is none. */
static struct bytes text_at(struct bytes strings, uint32_t offset)
{
	struct bytes at = bytes_at(strings, offset);

	return bytes_text(&at);
}

/* NULL if there is none. */
static const char *string_at(struct bytes strings, uint32_t offset, struct arena *arena)
{
	const char *string = arena_text(arena, text_at(strings, offset));

	return string && string[0] ? string : NULL;
}

static uint64_t word_at(const struct gopclntab *table, struct bytes words, unsigned index)
{
	struct bytes at = bytes_at(words, (uint64_t)index * table->word_bytes);

	return bytes_uint(&at, table->word_bytes);
}

static bool read_header(struct gopclntab *table, struct bytes section)
{
	struct bytes at = section;
	uint32_t magic = bytes_u32(&at);
	uint16_t padding = bytes_u16(&at);

	table->quantum = bytes_u8(&at);
	table->word_bytes = bytes_u8(&at);
	table->layout = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (layouts[i].magic == magic)
			table->layout = &layouts[i];
	if (!table->layout || padding || !table->quantum ||
	    (table->word_bytes != 4 && table->word_bytes != 8))
		return false;
	table->count = (uint32_t)word_at(table, at, 0);
	table->names = bytes_at(section, word_at(table, at, 3));
	table->units = bytes_at(section, word_at(table, at, 4));
	table->files = bytes_at(section, word_at(table, at, 5));
	table->values = bytes_at(section, word_at(table, at, 6));
	table->functions = bytes_at(section, word_at(table, at, 7));
	/* A pair per function, and the end of the last one. */
	return table->count && bytes_left(&table->functions) / 8 >= table->count + UINT64_C(1);
}

/*
 * Finds the start of the code, which the header no longer has (Go 1.26) or has only once the
 * program is loaded (PIE), and the trees of inlined calls, which it never has. moduledata has
 * both; it points to the header, then to the names.
 */
static bool read_module(struct gopclntab *table, struct elf_file *elf,
			const struct elf_section *section, struct bytes data)
{
	uint64_t header = section->vaddr;
	uint64_t names = header + (uint64_t)(table->names.at - section->data.at);

	for (data = at_most(data, SEARCH_BYTES_MAX);
	     bytes_left(&data) / table->word_bytes > table->layout->trees_word;
	     bytes_skip(&data, table->word_bytes)) {
		uint64_t trees;

		if (word_at(table, data, MODULE_HEADER) != header ||
		    word_at(table, data, MODULE_NAMES) != names)
			continue;
		table->text = word_at(table, data, MODULE_TEXT);
		trees = word_at(table, data, table->layout->trees_word);
		table->trees = trees - header < bytes_left(&section->data)
				       ? bytes_at(section->data, trees - header)
				       : elf_file_constants(elf, trees);
		return true;
	}
	return false;
}

/* Finds the header. Linkers other than Go's put it among other data, aligned to 8 bytes. */
static bool find_header(struct gopclntab *table, struct elf_file *elf, struct elf_section *ret)
{
	*ret = elf_file_section(elf, ".gopclntab");
	if (!ret->present)
		*ret = elf_file_section(elf, ".data.rel.ro.gopclntab");
	if (ret->present)
		return read_header(table, ret->data);
	if (!elf_file_has_section(elf, ".go.buildinfo"))
		return false;
	*ret = elf_file_section(elf, ".data.rel.ro");
	for (size_t searched = 0; searched < SEARCH_BYTES_MAX; searched += HEADER_ALIGNMENT) {
		if (read_header(table, ret->data))
			return true;
		bytes_skip(&ret->data, HEADER_ALIGNMENT);
		ret->vaddr += HEADER_ALIGNMENT;
		if (!bytes_left(&ret->data))
			break;
	}
	return false;
}

static bool open_table(struct gopclntab *table, struct elf_file *elf)
{
	static const char *const data[] = {".go.module", ".noptrdata", ".data"};
	struct elf_section section;

	if (!find_header(table, elf, &section))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(data); i++)
		if (read_module(table, elf, &section, elf_file_section(elf, data[i]).data))
			return true;
	return false;
}

struct gopclntab *gopclntab_new(struct elf_file *elf)
{
	CLEANUP(gopclntab_cleanup) struct gopclntab *table = xcalloc(1, sizeof(*table));

	return open_table(table, elf) ? STEAL(table) : NULL;
}

void gopclntab_free(struct gopclntab *table)
{
	free(table);
}

static uint32_t start_of(const struct gopclntab *table, uint32_t index)
{
	return u32_at(table->functions, index * UINT64_C(8));
}

/*
 * The last function that starts at or before the offset; `count` if there is none or the offset is
 * after the last function's end.
 */
static uint32_t find_index(const struct gopclntab *table, uint64_t offset)
{
	uint32_t low = 0, high = table->count;

	if (offset < start_of(table, 0) || offset >= start_of(table, table->count))
		return table->count;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (start_of(table, middle) <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The lists after a _func: of pc-value tables, then of per-function data. */
static void read_lists(struct bytes at, uint32_t value_count, uint32_t data_count,
		       struct function *function)
{
	struct bytes values = at, data = bytes_at(at, value_count * UINT64_C(4));

	if (INLINE_INDEX_TABLE < value_count)
		function->inlined = u32_at(values, INLINE_INDEX_TABLE * 4);
	if (INLINE_TREE < data_count)
		function->tree = u32_at(data, INLINE_TREE * 4);
}

static bool find_function(const struct gopclntab *table, uint64_t vaddr, struct function *ret)
{
	uint32_t index = find_index(table, vaddr - table->text);
	struct bytes at, lists;
	uint32_t value_count, data_count;

	if (index == table->count)
		return false;
	at = bytes_at(table->functions, u32_at(table->functions, index * UINT64_C(8) + 4));
	lists = bytes_at(at, table->layout->function_bytes);
	bytes_skip(&at, 4); /* the start again */
	*ret = (struct function){
		.start = start_of(table, index),
		.end = start_of(table, index + 1),
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

/*
 * The value at an offset from the function's start. A table has pairs of the difference to the
 * previous value and the number of bytes it applies to, and ends with a difference of 0. -1 if
 * there is no value.
 */
static int32_t value_at(const struct gopclntab *table, uint32_t values, uint64_t offset)
{
	struct bytes at = at_most(bytes_at(table->values, values), VALUES_BYTES_MAX);
	const unsigned char *first = at.at;
	uint32_t value = UINT32_MAX;
	uint64_t end = 0;

	while (values && bytes_ok(&at)) {
		bool is_first = at.at == first;
		uint32_t change = (uint32_t)bytes_uleb(&at);

		if (!change && !is_first)
			break;
		value += change & 1 ? ~(change >> 1) : change >> 1;
		end += (uint64_t)(uint32_t)bytes_uleb(&at) * table->quantum;
		if (offset < end && bytes_ok(&at))
			return (int32_t)value;
	}
	return -1;
}

static const char *file_at(const struct gopclntab *table, const struct function *function,
			   uint64_t offset, struct arena *arena)
{
	int32_t file = value_at(table, function->files, offset);
	uint64_t entry = ((uint64_t)function->unit + (uint32_t)file) * 4;
	uint32_t name = u32_at(table->units, entry);

	return file < 0 || name == UINT32_MAX ? NULL : string_at(table->files, name, arena);
}

static struct call call_at(const struct gopclntab *table, const struct function *function,
			   uint32_t name, uint64_t offset, struct arena *arena)
{
	int32_t line = value_at(table, function->lines, offset);

	return (struct call){
		.name = string_at(table->names, name, arena),
		.start_line = function->start_line,
		.file = file_at(table, function, offset, arena),
		.line = line > 0 ? (uint32_t)line : 0,
	};
}

/*
 * The innermost call inlined at the offset; false if there is none. *caller becomes the offset of
 * an instruction of its caller.
 */
static bool inlined_at(const struct gopclntab *table, const struct function *function,
		       uint64_t offset, struct call *ret, uint32_t *caller, struct arena *arena)
{
	const struct layout *layout = table->layout;
	int32_t index = function->tree == NO_TREE ? -1 : value_at(table, function->inlined, offset);
	struct bytes at;

	if (index < 0)
		return false;
	at = bytes_at(table->trees, function->tree + (uint64_t)index * layout->inlined_bytes);
	at = bytes_sub(&at, layout->inlined_bytes);
	*ret = call_at(table, function, u32_at(at, layout->name_at), offset, arena);
	ret->start_line = layout->start_line_at ? u32_at(at, layout->start_line_at) : 0;
	*caller = u32_at(at, layout->caller_at);
	return bytes_ok(&at) && ret->name;
}

static bool has_name(const struct gopclntab *table, uint64_t vaddr, struct function *function)
{
	struct bytes name;

	if (!find_function(table, vaddr, function))
		return false;
	name = text_at(table->names, function->name);
	return bytes_left(&name) > 0;
}

bool gopclntab_has(const struct gopclntab *table, uint64_t vaddr)
{
	struct function function;

	return has_name(table, vaddr, &function);
}

bool gopclntab_find(const struct gopclntab *table, uint64_t vaddr, struct arena *arena,
		    struct symbol *ret)
{
	struct function function;

	if (!find_function(table, vaddr, &function))
		return false;
	*ret = (struct symbol){
		.vaddr = table->text + function.start,
		.size_bytes = function.end - function.start,
		.name = string_at(table->names, function.name, arena),
	};
	return ret->name;
}

struct inline_chain gopclntab_resolve(const struct gopclntab *table, uint64_t vaddr,
				      struct arena *arena)
{
	struct call calls[CALLS_MAX], *kept;
	struct function function;
	unsigned count = 0;
	uint32_t offset, caller;

	if (!has_name(table, vaddr, &function))
		return (struct inline_chain){0};
	offset = (uint32_t)(vaddr - table->text) - function.start;
	while (count + 1 < CALLS_MAX &&
	       inlined_at(table, &function, offset, &calls[count], &caller, arena)) {
		offset = caller;
		count++;
	}
	calls[count] = call_at(table, &function, function.name, offset, arena);
	if (!calls[count].name) /* the file has changed since */
		return (struct inline_chain){0};
	count++;
	kept = arena_alloc(arena, count * sizeof(*calls));
	memcpy(kept, calls, count * sizeof(*calls));
	return (struct inline_chain){.calls = kept, .count = count};
}
