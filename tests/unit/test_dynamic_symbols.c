#include "elf/dynamic_symbols.h"

#include "base/alloc.h"

#include "built_elf.h"
#include "unit_test.h"

enum { SYMBOLS = 5, VADDR = 0x10000 };

/* Which tables a file has. */
enum tables {
	DYNAMIC = 1 << 0,
	HASH = 1 << 1,
	GNU_HASH = 1 << 2,
	SECTIONS = 1 << 3,
	LYING_SECTIONS = 1 << 4,
};

static const char strings[] = "\0one\0two\0three\0four";

/* nbucket, nchain, buckets, chains. */
static const uint32_t hash[] = {1, SYMBOLS, 0, 0, 0, 0, 0, 0};

/* Symbols 2 and 3 are in bucket 0, symbol 4 in bucket 2. Bucket 1 is empty. The
 * bloom filter has one word. */
static const uint32_t gnu_hash[] = {3, 2, 1, 0, 0, 0, 2, 0, 4, 0x10, 0x11, 0x21};

static void add_sections(struct built_elf *file, uint64_t symbols_at, uint64_t strings_at,
			 bool lies)
{
	Elf64_Shdr *section = built_elf_section(file, (Elf64_Shdr){.sh_type = SHT_DYNSYM},
						".dynsym", NULL, 0);

	section->sh_offset = lies ? symbols_at + sizeof(Elf64_Sym) : symbols_at;
	section->sh_size = SYMBOLS * sizeof(Elf64_Sym);
	section = built_elf_section(file, (Elf64_Shdr){.sh_type = SHT_STRTAB}, ".dynstr", NULL, 0);
	section->sh_offset = strings_at;
	section->sh_size = sizeof(strings);
}

static size_t add_table(struct built_elf *file, Elf64_Dyn *dynamic, size_t count, int64_t tag,
			const void *data, size_t len)
{
	dynamic[count] = (Elf64_Dyn){
		.d_tag = tag,
		.d_un.d_ptr = VADDR + built_elf_bytes(file, data, len),
	};
	return count + 1;
}

static struct elf_file *file_with(unsigned tables)
{
	static const Elf64_Sym symbols[SYMBOLS];
	struct built_elf file;
	struct elf_file *elf = NULL;
	Elf64_Dyn dynamic[8] = {0};
	size_t count = 0;
	uint64_t at;

	built_elf_init(&file);
	count = add_table(&file, dynamic, count, DT_SYMTAB, symbols, sizeof(symbols));
	count = add_table(&file, dynamic, count, DT_STRTAB, strings, sizeof(strings));
	dynamic[count++] = (Elf64_Dyn){.d_tag = DT_STRSZ, .d_un.d_val = sizeof(strings)};
	if (tables & HASH)
		count = add_table(&file, dynamic, count, DT_HASH, hash, sizeof(hash));
	if (tables & GNU_HASH)
		count = add_table(&file, dynamic, count, DT_GNU_HASH, gnu_hash, sizeof(gnu_hash));
	at = built_elf_bytes(&file, dynamic, sizeof(dynamic));
	if (tables & (SECTIONS | LYING_SECTIONS))
		add_sections(&file, dynamic[0].d_un.d_ptr - VADDR, dynamic[1].d_un.d_ptr - VADDR,
			     tables & LYING_SECTIONS);
	built_elf_segment(&file, (Elf64_Phdr){.p_type = PT_LOAD,
					      .p_flags = PF_R | PF_W,
					      .p_vaddr = VADDR,
					      .p_filesz = file.len,
					      .p_memsz = file.len});
	if (tables & DYNAMIC)
		built_elf_segment(&file, (Elf64_Phdr){.p_type = PT_DYNAMIC,
						      .p_offset = at,
						      .p_vaddr = VADDR + at,
						      .p_filesz = sizeof(dynamic)});
	built_elf_finish(&file);
	if (!(tables & (SECTIONS | LYING_SECTIONS)))
		memset(file.data + offsetof(Elf64_Ehdr, e_shoff), 0, sizeof(file.header.e_shoff));
	assert_null(elf_file_from_memory(file.data, file.len, "a.so", &elf));
	return elf;
}

TEST(the_symbols_are_those_of_the_dynamic_linker)
{
	static const struct {
		unsigned tables;
		size_t symbols;
	} cases[] = {
		{SECTIONS, SYMBOLS},
		{SECTIONS | DYNAMIC | GNU_HASH, SYMBOLS},
		{LYING_SECTIONS | DYNAMIC | GNU_HASH, SYMBOLS},
		{DYNAMIC | GNU_HASH, SYMBOLS},
		{DYNAMIC | HASH, SYMBOLS},
		{DYNAMIC | HASH | GNU_HASH, SYMBOLS},
		{DYNAMIC, SYMBOLS},
		{GNU_HASH, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(elf_file_cleanup) struct elf_file *elf = file_with(cases[i].tables);
		struct elf_dynamic_symbols found = elf_dynamic_symbols(elf);

		assert_int_equal(bytes_left(&found.symbols), cases[i].symbols * sizeof(Elf64_Sym));
		assert_int_equal(bytes_left(&found.strings),
				 cases[i].symbols ? sizeof(strings) : 0);
		if (cases[i].symbols)
			assert_memory_equal(found.strings.at, strings, sizeof(strings));
		if (cases[i].tables & LYING_SECTIONS)
			assert_ptr_not_equal(found.symbols.at,
					     elf_file_section(elf, ".dynsym").data.at);
	}
}
