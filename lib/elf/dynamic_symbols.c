#include "elf/dynamic_symbols.h"

#include "elf/classes.h"

/* Vaddrs from PT_DYNAMIC and the size of the strings. Missing values are 0. */
struct dynamic {
	uint64_t symbols, strings, strings_bytes, hash, gnu_hash;
};

static struct dynamic read_dynamic(const struct elf_file *elf)
{
	struct bytes from = elf_file_dynamic(elf);
	const unsigned word_bytes = elf_file_is_32(elf) ? 4 : 8;
	struct dynamic dynamic = {0};

	for (;;) {
		uint64_t tag = bytes_uint(&from, word_bytes);
		uint64_t value = bytes_uint(&from, word_bytes);

		if (!bytes_ok(&from) || tag == DT_NULL)
			return dynamic;
		if (tag == DT_SYMTAB)
			dynamic.symbols = value;
		else if (tag == DT_STRTAB)
			dynamic.strings = value;
		else if (tag == DT_STRSZ)
			dynamic.strings_bytes = value;
		else if (tag == DT_HASH)
			dynamic.hash = value;
		else if (tag == DT_GNU_HASH)
			dynamic.gnu_hash = value;
	}
}

/*
 * The table starts with nbucket and nchain. The latter is the number of
 * symbols.
 */
static uint64_t count_by_hash(struct bytes table)
{
	bytes_skip(&table, sizeof(uint32_t));
	return bytes_u32(&table);
}

/*
 * The table contains nbuckets, symoffset, bloom_size, bloom_shift, the words of
 * the bloom filter, the buckets, and the hash values of the symbols from
 * symoffset on. The last value of a bucket has bit 0 set. The last symbol is in
 * the bucket with the highest first symbol.
 */
static uint64_t count_by_gnu_hash(struct bytes table, unsigned word_bytes)
{
	uint32_t buckets = bytes_u32(&table), offset = bytes_u32(&table);
	uint32_t bloom_words = bytes_u32(&table), last = 0;

	bytes_skip(&table, sizeof(uint32_t) + (uint64_t)bloom_words * word_bytes);
	for (uint32_t i = 0; i < buckets && bytes_ok(&table); i++) {
		uint32_t first = bytes_u32(&table);

		last = first > last ? first : last;
	}
	if (!bytes_ok(&table) || last < offset)
		return bytes_ok(&table) ? offset : 0;
	bytes_skip(&table, (uint64_t)(last - offset) * sizeof(uint32_t));
	while (bytes_ok(&table) && !(bytes_u32(&table) & 1))
		last++;
	return bytes_ok(&table) ? (uint64_t)last + 1 : 0;
}

static struct bytes dynamic_symbols_cut(struct bytes bytes, uint64_t len)
{
	return len < bytes_left(&bytes) ? bytes_sub(&bytes, len) : bytes;
}

static struct bytes symbols_of(const struct elf_file *elf, const struct dynamic *dynamic)
{
	struct bytes symbols = elf_file_loaded(elf, dynamic->symbols);
	uint64_t by_hash = 0, by_gnu_hash = 0, count;

	if (dynamic->hash)
		by_hash = count_by_hash(elf_file_loaded(elf, dynamic->hash));
	if (dynamic->gnu_hash)
		by_gnu_hash = count_by_gnu_hash(elf_file_loaded(elf, dynamic->gnu_hash),
						elf_file_is_32(elf) ? 4 : 8);
	count = by_hash > by_gnu_hash ? by_hash : by_gnu_hash;
	if (count)
		return dynamic_symbols_cut(symbols, count * elf_symbol_bytes(elf_file_is_32(elf)));
	return dynamic->strings > dynamic->symbols
		       ? dynamic_symbols_cut(symbols, dynamic->strings - dynamic->symbols)
		       : symbols;
}

struct elf_dynamic_symbols elf_dynamic_symbols(struct elf_file *elf)
{
	const struct dynamic dynamic = read_dynamic(elf);
	const struct elf_dynamic_symbols sections = {
		.symbols = elf_file_section(elf, ".dynsym").data,
		.strings = elf_file_section(elf, ".dynstr").data,
	};

	if (!dynamic.symbols || !dynamic.strings ||
	    (bytes_left(&sections.symbols) &&
	     sections.symbols.at == elf_file_loaded(elf, dynamic.symbols).at &&
	     sections.strings.at == elf_file_loaded(elf, dynamic.strings).at))
		return sections;
	return (struct elf_dynamic_symbols){
		.symbols = symbols_of(elf, &dynamic),
		.strings = dynamic_symbols_cut(elf_file_loaded(elf, dynamic.strings),
					       dynamic.strings_bytes),
	};
}
