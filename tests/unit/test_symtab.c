#include "symbol/symtab.h"

#include "base/alloc.h"

#include "lacking.h"
#include "unit_test.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

/* One symbol of a synthetic file with code at 0x1000–0x10ff and 0x2000–0x20ff,
 * data at 0x3000–0x30ff, and tables of addresses at 0x4000–0x40ff. */
struct row {
	const char *name;
	uint64_t vaddr, size_bytes;
	unsigned char bind, type;
};

struct fixture {
	struct elf_file *elf;
	struct symtab *symtab;
	struct arena arena;
};

enum { TEXT = 1, TEXT_2, DATA, RELRO, SYMTAB, STRTAB, SECTIONS };

struct file {
	Elf64_Ehdr header;
	Elf64_Shdr sections[SECTIONS];
	Elf64_Sym symbols[32];
	char strings[1024];
};

static uint32_t add_string(struct file *file, size_t *used, const char *text)
{
	size_t at = *used;

	if (!*text)
		return 0;
	strcpy(file->strings + at, text);
	*used += strlen(text) + 1;
	return (uint32_t)at;
}

static void fill_sections(struct file *file, size_t *strings, size_t symbols)
{
	static const Elf64_Xword code = SHF_ALLOC | SHF_EXECINSTR;
	const Elf64_Shdr sections[SECTIONS] = {
		[TEXT] = {.sh_name = add_string(file, strings, ".text"),
			  .sh_type = SHT_NOBITS,
			  .sh_flags = code,
			  .sh_addr = 0x1000,
			  .sh_size = 0x100},
		[TEXT_2] = {.sh_name = add_string(file, strings, ".fini"),
			    .sh_type = SHT_NOBITS,
			    .sh_flags = code,
			    .sh_addr = 0x2000,
			    .sh_size = 0x100},
		[DATA] = {.sh_name = add_string(file, strings, ".data"),
			  .sh_type = SHT_NOBITS,
			  .sh_flags = SHF_ALLOC | SHF_WRITE,
			  .sh_addr = 0x3000,
			  .sh_size = 0x100},
		[RELRO] = {.sh_name = add_string(file, strings, ".data.rel.ro"),
			   .sh_type = SHT_NOBITS,
			   .sh_flags = SHF_ALLOC | SHF_WRITE,
			   .sh_addr = 0x4000,
			   .sh_size = 0x100},
		[SYMTAB] = {.sh_name = add_string(file, strings, ".symtab"),
			    .sh_type = SHT_SYMTAB,
			    .sh_offset = offsetof(struct file, symbols),
			    .sh_size = symbols * sizeof(Elf64_Sym),
			    .sh_entsize = sizeof(Elf64_Sym),
			    .sh_link = STRTAB},
		[STRTAB] = {.sh_name = add_string(file, strings, ".strtab"),
			    .sh_type = SHT_STRTAB,
			    .sh_offset = offsetof(struct file, strings),
			    .sh_size = sizeof(file->strings)},
	};

	memcpy(file->sections, sections, sizeof(sections));
	file->header = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shoff = offsetof(struct file, sections),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS,
		.e_shstrndx = STRTAB,
	};
}

static Elf64_Section section_of(const struct row *row)
{
	if (row->vaddr >> 12 == 3)
		return DATA;
	return row->vaddr >> 12 == 4 ? RELRO : TEXT;
}

static struct fixture symtab_of(const struct row *rows, size_t count)
{
	struct fixture fixture = {0};
	struct file file = {0};
	size_t strings = 1;

	for (size_t i = 0; i < count; i++)
		file.symbols[i] = (Elf64_Sym){
			.st_name = add_string(&file, &strings, rows[i].name),
			.st_info = (unsigned char)ELF64_ST_INFO(rows[i].bind, rows[i].type),
			.st_shndx = section_of(&rows[i]),
			.st_value = rows[i].vaddr,
			.st_size = rows[i].size_bytes,
		};
	fill_sections(&file, &strings, count);
	assert_null(elf_file_from_memory(&file, sizeof(file), "made up", &fixture.elf));
	fixture.symtab = symtab_new(fixture.elf, NULL);
	return fixture;
}

static void fixture_deinit(struct fixture *fixture)
{
	symtab_free(fixture->symtab);
	elf_file_free(fixture->elf);
	arena_deinit(&fixture->arena);
}

/* expected is NULL if no symbol covers vaddr. */
static void assert_found(struct fixture *fixture, uint64_t vaddr, const char *name)
{
	struct symbol symbol;
	bool found = symtab_find(fixture->symtab, vaddr, &fixture->arena, &symbol);

	assert_int_equal(found, name != NULL);
	if (name)
		assert_string_equal(symbol.name, name);
}

TEST(a_symbol_covers_its_size_and_no_more)
{
	static const struct row rows[] = {
		{"second", 0x1040, 0x10, STB_GLOBAL, STT_FUNC},
		{"first", 0x1000, 0x20, STB_LOCAL, STT_FUNC},
		{"chosen_at_run_time", 0x1060, 0x10, STB_GLOBAL, STT_GNU_IFUNC},
	};
	CLEANUP(fixture_deinit) struct fixture fixture = symtab_of(rows, ARRAY_SIZE(rows));

	assert_found(&fixture, 0xfff, NULL);
	assert_found(&fixture, 0x1000, "first");
	assert_found(&fixture, 0x101f, "first");
	assert_found(&fixture, 0x1020, NULL);
	assert_found(&fixture, 0x1040, "second");
	assert_found(&fixture, 0x1060, "chosen_at_run_time");
	assert_found(&fixture, 0x1070, NULL);
}

TEST(without_a_size_it_reaches_to_the_next_or_the_sections_end)
{
	static const struct row rows[] = {
		{"assembly", 0x1010, 0, STB_GLOBAL, STT_NOTYPE},
		{"sized", 0x1040, 0x10, STB_GLOBAL, STT_FUNC},
		{"last", 0x1080, 0, STB_LOCAL, STT_FUNC},
		{"other_section", 0x2010, 0, STB_LOCAL, STT_FUNC},
	};
	CLEANUP(fixture_deinit) struct fixture fixture = symtab_of(rows, ARRAY_SIZE(rows));

	assert_found(&fixture, 0x103f, "assembly");
	assert_found(&fixture, 0x1040, "sized");
	assert_found(&fixture, 0x1050, NULL);
	assert_found(&fixture, 0x10ff, "last");
	assert_found(&fixture, 0x1100, NULL);
	assert_found(&fixture, 0x20ff, "other_section");
	assert_found(&fixture, 0x2100, NULL);
}

TEST(a_label_inside_a_function_is_not_a_function)
{
	static const struct row rows[] = {
		{"function", 0x1000, 0x80, STB_GLOBAL, STT_FUNC},
		{"retry", 0x1020, 0, STB_LOCAL, STT_NOTYPE},
		{"inner", 0x1040, 0x10, STB_LOCAL, STT_FUNC},
		{"innermost", 0x1044, 0x4, STB_LOCAL, STT_FUNC},
	};
	CLEANUP(fixture_deinit) struct fixture fixture = symtab_of(rows, ARRAY_SIZE(rows));

	assert_found(&fixture, 0x1028, "function");
	assert_found(&fixture, 0x1040, "inner");
	assert_found(&fixture, 0x1045, "innermost");
	assert_found(&fixture, 0x1048, "inner");
	assert_found(&fixture, 0x1050, "function");
	assert_found(&fixture, 0x1080, NULL);
}

TEST(data_and_mapping_symbols_are_not_functions)
{
	static const struct row rows[] = {
		{"table", 0x1030, 0x10, STB_GLOBAL, STT_OBJECT},
		{"edata", 0x3020, 0, STB_GLOBAL, STT_NOTYPE},
		{"$x", 0x1000, 0, STB_LOCAL, STT_NOTYPE},
		{"$d.1", 0x1010, 0, STB_LOCAL, STT_NOTYPE},
		{".L12", 0x1020, 0, STB_LOCAL, STT_NOTYPE},
		{"", 0x1030, 0x10, STB_GLOBAL, STT_FUNC},
	};
	CLEANUP(fixture_deinit) struct fixture fixture = symtab_of(rows, ARRAY_SIZE(rows));

	assert_true(symtab_is_empty(fixture.symtab));
	for (uint64_t vaddr = 0x1000; vaddr < 0x1040; vaddr += 4)
		assert_found(&fixture, vaddr, NULL);
	assert_found(&fixture, 0x3020, NULL);
}

TEST(a_variable_that_the_program_can_change_has_a_name)
{
	static const struct row rows[] = {
		{"lock", 0x3000, 0x28, STB_LOCAL, STT_OBJECT},
		{"unsized", 0x3040, 0, STB_LOCAL, STT_OBJECT},
		{"vtable", 0x4000, 0x20, STB_LOCAL, STT_OBJECT},
		{"per_thread", 0x0, 0x20, STB_LOCAL, STT_TLS},
	};
	CLEANUP(fixture_deinit) struct fixture fixture = symtab_of(rows, ARRAY_SIZE(rows));

	assert_found(&fixture, 0x3000, "lock");
	assert_found(&fixture, 0x3027, "lock");
	assert_found(&fixture, 0x3028, NULL);
	assert_found(&fixture, 0x3040, NULL);
	assert_found(&fixture, 0x4000, NULL);
	assert_found(&fixture, 0x0, NULL);
}

TEST(the_best_of_several_names_is_chosen)
{
	static const struct row rows[] = {
		{"local", 0x1000, 0x10, STB_LOCAL, STT_FUNC},
		{"weak", 0x1000, 0x10, STB_WEAK, STT_FUNC},
		{"_global", 0x1000, 0x10, STB_GLOBAL, STT_FUNC},
		{"a", 0x1000, 0x10, STB_LOCAL, STT_FUNC},
		{"__malloc", 0x1010, 0x10, STB_GLOBAL, STT_FUNC},
		{"malloc", 0x1010, 0x10, STB_GLOBAL, STT_FUNC},
		{"_aaa", 0x1010, 0x10, STB_GLOBAL, STT_FUNC},
		{"b", 0x1020, 0x10, STB_GLOBAL, STT_FUNC},
		{"a", 0x1020, 0x10, STB_GLOBAL, STT_FUNC},
		{"label", 0x1030, 0, STB_GLOBAL, STT_NOTYPE},
		{"function", 0x1030, 0x10, STB_LOCAL, STT_FUNC},
		{"short", 0x1040, 0x10, STB_GLOBAL, STT_FUNC},
		{"long", 0x1040, 0x20, STB_LOCAL, STT_FUNC},
	};
	CLEANUP(fixture_deinit) struct fixture fixture = symtab_of(rows, ARRAY_SIZE(rows));

	assert_found(&fixture, 0x1000, "weak");
	assert_found(&fixture, 0x1010, "malloc");
	assert_found(&fixture, 0x1020, "a");
	assert_found(&fixture, 0x1030, "function");
	assert_found(&fixture, 0x104f, "short");
	assert_found(&fixture, 0x1050, "long");
}

/* The symbols of glibc 2.36. */
TEST(the_name_that_programs_call_is_chosen)
{
	static const struct row rows[] = {
		{"__GI___libc_malloc", 0x1000, 0x10, STB_LOCAL, STT_FUNC},
		{"__libc_malloc", 0x1000, 0x10, STB_GLOBAL, STT_FUNC},
		{"malloc", 0x1000, 0x10, STB_GLOBAL, STT_FUNC},
		{"_IO_puts", 0x1010, 0x10, STB_GLOBAL, STT_FUNC},
		{"puts", 0x1010, 0x10, STB_WEAK, STT_FUNC},
		{"cfree@GLIBC_2.2.5", 0x1020, 0x10, STB_GLOBAL, STT_FUNC},
		{"free@@GLIBC_2.2.5", 0x1020, 0x10, STB_GLOBAL, STT_FUNC},
		{"gsignal", 0x1030, 0x10, STB_WEAK, STT_FUNC},
		{"raise", 0x1030, 0x10, STB_GLOBAL, STT_FUNC},
		{"strtol", 0x1040, 0x10, STB_WEAK, STT_FUNC},
		{"strtoimax", 0x1040, 0x10, STB_WEAK, STT_FUNC},
		{"__memcpy_avx_unaligned", 0x1050, 0x10, STB_LOCAL, STT_FUNC},
		{"__memmove_avx_unaligned", 0x1050, 0x10, STB_LOCAL, STT_FUNC},
		{"__vdso_time", 0x1060, 0x10, STB_GLOBAL, STT_FUNC},
		{"time", 0x1060, 0x10, STB_WEAK, STT_FUNC},
	};
	CLEANUP(fixture_deinit) struct fixture fixture = symtab_of(rows, ARRAY_SIZE(rows));

	assert_found(&fixture, 0x1000, "malloc");
	assert_found(&fixture, 0x1010, "puts");
	assert_found(&fixture, 0x1020, "free");
	assert_found(&fixture, 0x1030, "raise");
	assert_found(&fixture, 0x1040, "strtol");
	assert_found(&fixture, 0x1050, "__memmove_avx_unaligned");
	assert_found(&fixture, 0x1060, "__vdso_time");
}

TEST(versions_are_taken_off)
{
	static const struct row rows[] = {
		{"memcpy@@GLIBC_2.14", 0x1000, 0x10, STB_GLOBAL, STT_FUNC},
		{"memcpy@GLIBC_2.2.5", 0x1010, 0x10, STB_GLOBAL, STT_FUNC},
	};
	CLEANUP(fixture_deinit) struct fixture fixture = symtab_of(rows, ARRAY_SIZE(rows));

	assert_found(&fixture, 0x1008, "memcpy");
	assert_found(&fixture, 0x1018, "memcpy");
}

TEST(wrong_sizes_give_no_wrong_names)
{
	static const struct row rows[] = {
		{"wraps", UINT64_MAX - 4, 0x10, STB_GLOBAL, STT_FUNC},
		{"endless", 0x1000, UINT64_MAX, STB_GLOBAL, STT_FUNC},
		{"good", 0x1040, 0x10, STB_GLOBAL, STT_FUNC},
	};
	CLEANUP(fixture_deinit) struct fixture fixture = symtab_of(rows, ARRAY_SIZE(rows));

	assert_found(&fixture, 0x1044, "good");
	assert_found(&fixture, 0x1050, "endless");
	assert_found(&fixture, UINT64_MAX, NULL);
	assert_found(&fixture, 0, NULL);
}

/* Opens this program, which is dynamically linked to libc. */
static void open_self(struct fixture *fixture)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_null(elf_file_open(fd, "self", &fixture->elf));
	fixture->symtab = symtab_new(fixture->elf, NULL);
}

static uint64_t vaddr_of(const void *address)
{
	struct link_map *map;
	Dl_info info;

	assert_int_not_equal(dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP), 0);
	return (uint64_t)(uintptr_t)address - map->l_addr;
}

TEST(a_real_programs_functions_are_found)
{
	CLEANUP(fixture_deinit) struct fixture fixture = {0};
	void (*function)(struct fixture *) = open_self;

	open_self(&fixture);
	assert_true(symtab_is_complete(fixture.symtab));
	assert_found(&fixture, vaddr_of((void *)(uintptr_t)function), "open_self");
}

/* The linker may not have made stubs for this program, so all stubs are read
 * from the file. */
TEST(each_stub_has_the_name_of_what_it_calls)
{
	CLEANUP(fixture_deinit) struct fixture fixture = {0};
	struct elf_section plt;
	unsigned stubs = 0;

	open_self(&fixture);
	plt = elf_file_section(fixture.elf, ".plt.sec");
	if (!plt.present)
		plt = elf_file_section(fixture.elf, ".plt");
	if (!plt.present)
		RETURN_LACKING("there are no stubs");
	for (uint64_t at = 0; at < bytes_left(&plt.data); at += 16) {
		struct symbol symbol;

		if (!symtab_find(fixture.symtab, plt.vaddr + at + 15, &fixture.arena, &symbol) ||
		    !strcmp(symbol.name, "_PROCEDURE_LINKAGE_TABLE_")) /* of mold */
			continue;
		assert_string_equal(symbol.name + strlen(symbol.name) - 4, "@plt");
		stubs += !strcmp(symbol.name, "_cmocka_run_group_tests@plt");
	}
	assert_int_equal(stubs, 1);
}

/* A mapped file may be changed while it is read. */
TEST(names_that_were_found_do_not_change_with_the_file)
{
	static const struct row rows[] = {{"plain", 0x1000, 0x10, STB_GLOBAL, STT_FUNC}};
	CLEANUP(fixture_deinit) struct fixture fixture = symtab_of(rows, ARRAY_SIZE(rows));
	struct bytes contents = elf_file_contents(fixture.elf);
	struct symbol symbol;

	assert_true(symtab_find(fixture.symtab, 0x1000, &fixture.arena, &symbol));
	memset((void *)(uintptr_t)contents.at, 'Z', bytes_left(&contents));
	assert_string_equal(symbol.name, "plain");
	/* The end of the name was removed. */
	assert_false(symtab_find(fixture.symtab, 0x1000, &fixture.arena, &symbol));
}
