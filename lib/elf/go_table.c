#include "elf/go_table.h"

#include "base/alloc.h"

static const struct go_layout layouts[] = {
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

/*
 * Indexes of words in moduledata, which the linker writes into the program's
 * data.
 */
enum module_word {
	MODULE_HEADER = 0,
	MODULE_NAMES = 1,
	MODULE_TEXT = 22,
};

enum {
	HEADER_ALIGNMENT = 8,
	/* Limit for the word-by-word search of a section. */
	SEARCH_BYTES_MAX = 256 << 20,
	/*
	 * Larger than the pc-value tables of a function with a megabyte of
	 * code.
	 */
	VALUES_BYTES_MAX = 1 << 20,
};

static struct bytes go_table_at_most(struct bytes bytes, size_t len)
{
	if (bytes_left(&bytes) > len)
		bytes.end = bytes.at + len;
	return bytes;
}

static uint64_t word_at(const struct go_table *table, struct bytes words, unsigned index)
{
	struct bytes at = bytes_at(words, (uint64_t)index * table->word_bytes);

	return bytes_uint(&at, table->word_bytes);
}

static bool go_table_read_header(struct go_table *table, struct bytes section)
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
	/*
	 * The table has a pair per function, followed by the end of the last
	 * one.
	 */
	return table->count && bytes_left(&table->functions) / 8 >= table->count + UINT64_C(1);
}

/*
 * Finds the start of the code and the trees of inlined calls in moduledata. The
 * header lacks the start since Go 1.26, and in a PIE it is only set when the
 * program is loaded. The trees are never in the header. moduledata contains a
 * pointer to the header and one to the names.
 */
static bool read_module(struct go_table *table, struct elf_file *elf,
			const struct elf_section *section, struct bytes data)
{
	uint64_t header = section->vaddr;
	uint64_t names = header + (uint64_t)(table->names.at - section->data.at);

	for (data = go_table_at_most(data, SEARCH_BYTES_MAX);
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

/*
 * Finds the header. Linkers other than Go's put it into another section,
 * aligned to 8 bytes.
 */
static bool find_header(struct go_table *table, struct elf_file *elf, struct elf_section *ret)
{
	*ret = elf_file_section(elf, ".gopclntab");
	if (!ret->present)
		*ret = elf_file_section(elf, ".data.rel.ro.gopclntab");
	if (ret->present)
		return go_table_read_header(table, ret->data);
	if (!elf_file_has_section(elf, ".go.buildinfo"))
		return false;
	*ret = elf_file_section(elf, ".data.rel.ro");
	for (size_t searched = 0; searched < SEARCH_BYTES_MAX; searched += HEADER_ALIGNMENT) {
		if (go_table_read_header(table, ret->data))
			return true;
		bytes_skip(&ret->data, HEADER_ALIGNMENT);
		ret->vaddr += HEADER_ALIGNMENT;
		if (!bytes_left(&ret->data))
			break;
	}
	return false;
}

bool go_table_open(struct go_table *table, struct elf_file *elf)
{
	static const char *const data[] = {".go.module", ".noptrdata", ".data"};
	struct elf_section section;

	*table = (struct go_table){0};
	if (!find_header(table, elf, &section))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(data); i++)
		if (read_module(table, elf, &section, elf_file_section(elf, data[i]).data))
			return true;
	return false;
}

uint32_t go_table_start(const struct go_table *table, uint32_t index)
{
	return bytes_u32_at(table->functions, index * UINT64_C(8));
}

uint32_t go_table_find(const struct go_table *table, uint64_t offset)
{
	uint32_t low = 0, high = table->count;

	if (offset < go_table_start(table, 0) || offset >= go_table_start(table, table->count))
		return table->count;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (go_table_start(table, middle) <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

struct bytes go_table_description(const struct go_table *table, uint32_t index)
{
	return bytes_at(table->functions, bytes_u32_at(table->functions, index * UINT64_C(8) + 4));
}

/*
 * A table consists of pairs: the difference to the previous value, and the
 * number of bytes that it applies to. It ends with a difference of 0.
 */
int32_t go_table_value(const struct go_table *table, uint32_t values, uint64_t offset)
{
	struct bytes at = go_table_at_most(bytes_at(table->values, values), VALUES_BYTES_MAX);
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

struct bytes go_table_name(const struct go_table *table, uint32_t index)
{
	struct bytes at = bytes_at(table->names,
				   bytes_u32_at(go_table_description(table, index), 4));

	return bytes_text(&at);
}
