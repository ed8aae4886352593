#include "symbol/gopclntab.h"

#include "base/alloc.h"
#include "built_elf.h"
#include "unit_test.h"
#include "unwind/go_code.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define GO_1_18 0xfffffff0u
#define GO_1_20 0xfffffff1u

enum { TABLE_VADDR = 0x500000, CONSTANTS_VADDR = 0x700000 };

/*
 * A program with two functions, as a Go linker writes it:
 *
 *	text + 0x00	main.outer at main.go:10
 *	       0x08	  main.middle, inlined, at main.go:20
 *	       0x10	    main.leaf, inlined in it, at leaf.go:30
 *	       0x18	main.outer at main.go:11
 *	       0x20	main.plain, which has no lines: up to 0x30
 */
struct program {
	uint32_t magic;
	uint64_t text;
	const char *section;	    /* section of the table */
	const char *module_section; /* section of moduledata */
	size_t before;		    /* number of bytes before the table in its section */
	bool trees_apart;	    /* inline trees are among the constants, as before Go 1.26 */
	uint32_t leaf_called_at;    /* offset of an instruction of main.middle */
	const char *plain;	    /* name of main.plain */
};

static const struct program usual = {
	.magic = GO_1_20,
	.text = 0x401000,
	.section = ".gopclntab",
	.module_section = ".go.module",
	.leaf_called_at = 0x0c,
	.plain = "main.plain",
};

static const char names[] = "\0main.outer\0main.middle\0main.leaf";
enum { OUTER = 1, MIDDLE = 12, LEAF = 24, PLAIN = sizeof(names) };

static const char files[] = "/src/main.go\0/src/leaf.go";
static const uint32_t units[] = {UINT32_MAX, 0, 13};
enum { UNIT = 1 };

/* Differences (doubled, and odd if negative) and their lengths. Offset 0 is
 * unused. */
static const unsigned char values[] = {
	0,  2, 0x10, 2, 8,  1, 8,  0,	 /* files: 0, 1, 0 */
	22, 8, 20,   8, 20, 8, 37, 8, 0, /* lines: 10, 20, 30, 11 */
	0,  8, 2,    8, 2,  8, 3,  8, 0, /* inlined: none, 0, 1, none */
};
enum { FILES = 1, LINES = 8, INLINED = 17 };

struct blob {
	unsigned char data[2048];
	size_t len;
};

static uint64_t put(struct blob *blob, const void *data, size_t len)
{
	uint64_t at = blob->len;

	assert_true(blob->len + len <= sizeof(blob->data));
	memcpy(blob->data + at, data, len);
	blob->len = (blob->len + len + 7) / 8 * 8;
	return at;
}

/* The values are adjacent. */
static uint64_t put_u32s(struct blob *blob, const void *list, size_t count)
{
	uint64_t at = put(blob, list, count * sizeof(uint32_t));

	blob->len = at + count * sizeof(uint32_t);
	return at;
}

static void put_function(struct blob *blob, const struct program *program, uint32_t start,
			 uint32_t name, bool is_described)
{
	const uint32_t first[] = {
		start,
		name,
		0,
		0,
		is_described ? LINES : INLINED,
		is_described ? FILES : 0,
		is_described ? LINES : 0,
		3,
		UNIT,
	};
	static const uint32_t start_line = 9;
	static const unsigned char last[] = {0, 0, 0, 4};
	const uint32_t lists[] = {0,	      0,	  is_described ? INLINED : 0,	UINT32_MAX,
				  UINT32_MAX, UINT32_MAX, is_described ? 0 : UINT32_MAX};

	put_u32s(blob, first, 9);
	if (program->magic == GO_1_20)
		put_u32s(blob, &start_line, 1);
	put_u32s(blob, last, 1);
	put_u32s(blob, lists, 7);
}

static uint64_t put_functions(struct blob *blob, const struct program *program)
{
	const uint32_t described = 5 * 4, bytes = program->magic == GO_1_20 ? 44 + 28 : 40 + 28;
	const uint32_t starts[] = {0, described, 0x20, described + bytes, 0x30};
	uint64_t at = put_u32s(blob, starts, 5);

	put_function(blob, program, 0, OUTER, true);
	put_function(blob, program, 0x20, PLAIN, false);
	return at;
}

static uint64_t put_trees(struct blob *blob, const struct program *program)
{
	const uint32_t before[] = {0, 0, 0, MIDDLE, 4, 0, 0, 0, LEAF, program->leaf_called_at};
	const uint32_t since[] = {0, MIDDLE, 4, 19, 0, LEAF, program->leaf_called_at, 29};

	return program->magic == GO_1_20 ? put_u32s(blob, since, 8) : put_u32s(blob, before, 10);
}

struct fixture {
	struct built_elf file;
	struct elf_file *elf;
	struct gopclntab *table;
	struct arena arena;
};

static void add_table(struct built_elf *file, const struct program *program, uint64_t module[64])
{
	static const unsigned char front[256] = {0};
	struct blob table = {0}, constants = {0};
	uint64_t header[9] = {(uint64_t)8 << 56 | (uint64_t)1 << 48 | program->magic, 2, 2};
	uint64_t vaddr = TABLE_VADDR + program->before, trees;

	put(&table, header, sizeof(header));
	header[4] = put(&table, names, sizeof(names));
	table.len = header[4] + sizeof(names);
	put(&table, program->plain, strlen(program->plain) + 1);
	header[5] = put(&table, units, sizeof(units));
	header[6] = put(&table, files, sizeof(files));
	header[7] = put(&table, values, sizeof(values));
	header[8] = put_functions(&table, program);
	memcpy(table.data, header, sizeof(header));
	trees = program->trees_apart ? CONSTANTS_VADDR + put_trees(&constants, program)
				     : vaddr + put_trees(&table, program);
	built_elf_bytes(file, front, program->before);
	built_elf_section(file, (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_addr = TABLE_VADDR},
			  program->section, table.data, table.len);
	file->sections[file->header.e_shnum - 1].sh_offset -= program->before;
	file->sections[file->header.e_shnum - 1].sh_size += program->before;
	built_elf_segment(
		file, (Elf64_Phdr){.p_type = PT_LOAD,
				   .p_flags = PF_R,
				   .p_offset = built_elf_bytes(file, constants.data, constants.len),
				   .p_vaddr = CONSTANTS_VADDR,
				   .p_filesz = constants.len,
				   .p_memsz = constants.len});
	module[0] = vaddr;
	module[1] = vaddr + header[4];
	module[22] = program->text;
	module[program->magic == GO_1_20 ? 40 : 38] = trees;
}

static void fixture_init(struct fixture *fixture, const struct program *program)
{
	uint64_t module[64] = {0};

	*fixture = (struct fixture){0};
	built_elf_init(&fixture->file);
	add_table(&fixture->file, program, module);
	built_elf_section(&fixture->file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, ".go.buildinfo",
			  "", 1);
	built_elf_section(&fixture->file, (Elf64_Shdr){.sh_type = SHT_PROGBITS},
			  program->module_section, module, sizeof(module));
	built_elf_finish(&fixture->file);
	assert_null(
		elf_file_from_memory(fixture->file.data, fixture->file.len, "go", &fixture->elf));
	fixture->table = gopclntab_new(fixture->elf);
}

static void fixture_deinit(struct fixture *fixture)
{
	gopclntab_free(fixture->table);
	elf_file_free(fixture->elf);
	arena_deinit(&fixture->arena);
}

static bool find(struct fixture *fixture, uint64_t vaddr, struct symbol *ret)
{
	bool found = gopclntab_find(fixture->table, vaddr, &fixture->arena, ret);

	assert_int_equal(found, gopclntab_has(fixture->table, vaddr));
	return found;
}

static struct inline_chain resolve(struct fixture *fixture, uint64_t vaddr)
{
	return gopclntab_resolve(fixture->table, vaddr, &fixture->arena);
}

static void assert_call(const struct call *call, const char *name, const char *file, uint32_t line)
{
	assert_string_equal(call->name, name);
	assert_string_equal(call->file, file);
	assert_int_equal(call->line, line);
}

static void assert_all_is_found(const struct program *program)
{
	CLEANUP(fixture_deinit) struct fixture fixture;
	struct inline_chain chain;

	fixture_init(&fixture, program);
	assert_non_null(fixture.table);
	chain = resolve(&fixture, program->text + 0x17);
	assert_int_equal(chain.count, 3);
	assert_call(&chain.calls[0], "main.leaf", "/src/leaf.go", 30);
	assert_call(&chain.calls[1], "main.middle", "/src/main.go", 20);
	assert_call(&chain.calls[2], "main.outer", "/src/main.go", 10);
	chain = resolve(&fixture, program->text + 0x18);
	assert_int_equal(chain.count, 1);
	assert_call(&chain.calls[0], "main.outer", "/src/main.go", 11);
}

TEST(functions_inlined_at_an_address_have_names_and_places)
{
	assert_all_is_found(&usual);
}

TEST(functions_say_where_they_begin)
{
	CLEANUP(fixture_deinit) struct fixture fixture;
	struct inline_chain chain;

	fixture_init(&fixture, &usual);
	chain = resolve(&fixture, usual.text + 0x10);
	assert_int_equal(chain.count, 3);
	assert_int_equal(chain.calls[0].start_line, 29);
	assert_int_equal(chain.calls[1].start_line, 19);
	assert_int_equal(chain.calls[2].start_line, 9);
}

TEST(go_1_18_is_read_too)
{
	struct program program = usual;

	program.magic = GO_1_18;
	program.module_section = ".noptrdata";
	program.trees_apart = true;
	assert_all_is_found(&program);
}

TEST(inlined_calls_may_be_among_the_constants)
{
	struct program program = usual;

	program.trees_apart = true;
	assert_all_is_found(&program);
}

TEST(the_table_may_be_among_other_data)
{
	struct program program = usual;

	program.section = ".data.rel.ro";
	program.module_section = ".data";
	program.before = 72;
	assert_all_is_found(&program);
}

TEST(a_function_reaches_to_the_next_and_the_last_to_the_end)
{
	CLEANUP(fixture_deinit) struct fixture fixture;
	struct symbol symbol;

	fixture_init(&fixture, &usual);
	assert_false(find(&fixture, usual.text - 1, &symbol));
	assert_true(find(&fixture, usual.text + 0x1f, &symbol));
	assert_string_equal(symbol.name, "main.outer");
	assert_int_equal(symbol.vaddr, usual.text);
	assert_int_equal(symbol.size_bytes, 0x20);
	assert_true(find(&fixture, usual.text + 0x2f, &symbol));
	assert_string_equal(symbol.name, "main.plain");
	assert_false(find(&fixture, usual.text + 0x30, &symbol));
	assert_int_equal(resolve(&fixture, usual.text + 0x30).count, 0);
	assert_int_equal(resolve(&fixture, 0).count, 0);
	assert_int_equal(resolve(&fixture, UINT64_MAX).count, 0);
}

TEST(a_function_without_lines_has_a_name)
{
	CLEANUP(fixture_deinit) struct fixture fixture;
	struct inline_chain chain;

	fixture_init(&fixture, &usual);
	chain = resolve(&fixture, usual.text + 0x28);
	assert_int_equal(chain.count, 1);
	assert_string_equal(chain.calls[0].name, "main.plain");
	assert_null(chain.calls[0].file);
	assert_int_equal(chain.calls[0].line, 0);
}

TEST(circular_inlined_calls_end)
{
	struct program program = usual;
	CLEANUP(fixture_deinit) struct fixture fixture;
	struct inline_chain chain;

	program.leaf_called_at = 0x10; /* calls itself */
	fixture_init(&fixture, &program);
	chain = resolve(&fixture, program.text + 0x10);
	assert_true(chain.count > 1);
	assert_string_equal(chain.calls[chain.count - 1].name, "main.outer");
}

TEST(a_layout_that_is_not_known_names_nothing)
{
	struct program program = usual;
	CLEANUP(fixture_deinit) struct fixture fixture;

	program.magic = 0xfffffff2;
	fixture_init(&fixture, &program);
	assert_null(fixture.table);
}

TEST(without_module_data_nothing_is_guessed)
{
	struct program program = usual;
	CLEANUP(fixture_deinit) struct fixture fixture;

	program.module_section = ".elsewhere";
	fixture_init(&fixture, &program);
	assert_null(fixture.table);
}

/* However much of the table is left, results are correct or empty. */
TEST(a_truncated_table_is_read_up_to_its_end)
{
	CLEANUP(fixture_deinit) struct fixture whole;
	Elf64_Shdr *section;

	fixture_init(&whole, &usual);
	section = (Elf64_Shdr *)(void *)(whole.file.data + whole.file.header.e_shoff) + 1;
	for (uint64_t size = section->sh_size; size > 0; size--) {
		CLEANUP(fixture_deinit) struct fixture cut = {0};
		struct symbol symbol;

		section->sh_size = size;
		assert_null(elf_file_from_memory(whole.file.data, whole.file.len, "cut", &cut.elf));
		cut.table = gopclntab_new(cut.elf);
		if (cut.table && find(&cut, usual.text, &symbol)) {
			assert_string_equal(symbol.name, "main.outer");
			assert_true(resolve(&cut, usual.text + 0x10).count > 0);
		}
	}
}

/* A mapped file may be changed while it is read. */
TEST(names_that_were_found_do_not_change_with_the_file)
{
	CLEANUP(fixture_deinit) struct fixture fixture;
	struct inline_chain chain;
	struct bytes contents;
	struct symbol symbol;

	fixture_init(&fixture, &usual);
	assert_true(find(&fixture, usual.text + 0x17, &symbol));
	chain = resolve(&fixture, usual.text + 0x17);
	contents = elf_file_contents(fixture.elf);
	memset((void *)(uintptr_t)contents.at, 'Z', bytes_left(&contents));
	assert_string_equal(symbol.name, "main.outer");
	assert_call(&chain.calls[0], "main.leaf", "/src/leaf.go", 30);
}

/* Reading stops at zeros, because a sparse file may have terabytes of them. */
TEST(a_table_of_values_ends_with_a_zero_after_the_first_pair)
{
	CLEANUP(fixture_deinit) struct fixture fixture;
	struct inline_chain chain;
	struct bytes contents;
	unsigned char *lines;

	fixture_init(&fixture, &usual);
	contents = elf_file_contents(fixture.elf);
	lines = memmem(contents.at, bytes_left(&contents), values, sizeof(values));
	assert_non_null(lines);
	memset(lines + LINES, 0, 4);
	chain = resolve(&fixture, usual.text + 0x04);
	assert_int_equal(chain.count, 1);
	assert_call(&chain.calls[0], "main.outer", "/src/main.go", 0);
}

static enum go_function function_of(const char *plain, uint64_t vaddr)
{
	struct program program = usual;
	CLEANUP(fixture_deinit) struct fixture fixture;
	struct go_code code;

	program.plain = plain;
	fixture_init(&fixture, &program);
	go_code_read(&code, fixture.elf);
	assert_true(code.is_of_go);
	return go_code_at(&code, vaddr);
}

TEST(code_is_of_go_where_the_table_has_functions)
{
	assert_int_equal(function_of("main.plain", usual.text - 1), GO_NONE);
	assert_int_equal(function_of("main.plain", usual.text), GO_ORDINARY);
	assert_int_equal(function_of("main.plain", usual.text + 0x2f), GO_ORDINARY);
	assert_int_equal(function_of("main.plain", usual.text + 0x30), GO_NONE);
}

TEST(functions_that_switch_stacks_are_known_by_name)
{
	static const struct {
		const char *name;
		enum go_function function;
	} cases[] = {
		{"runtime.asmcgocall.abi0", GO_CALLS_C},     {"runtime.asmcgocall", GO_CALLS_C},
		{"runtime.systemstack", GO_SYSTEM_STACK},    {"runtime.morestack", GO_MORE_STACK},
		{"runtime.cgocallback", GO_CALLED_BY_C},     {"crosscall2", GO_FROM_C},
		{"runtime.asmcgocall.func1", GO_ORDINARY},   {"runtime.asmcgocal", GO_ORDINARY},
		{"runtime.systemstack_switch", GO_ORDINARY},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(function_of(cases[i].name, usual.text + 0x20), cases[i].function);
		assert_int_equal(function_of(cases[i].name, usual.text + 0x2f), cases[i].function);
		assert_int_equal(function_of(cases[i].name, usual.text + 0x1f), GO_ORDINARY);
	}
}

/* The fixture uses the lines as frame sizes, and in the second function the
 * inlined calls. */
TEST(the_table_has_the_size_of_the_frame_at_each_address)
{
	static const struct {
		uint64_t offset;
		int64_t depth; /* -1 if there is none */
	} cases[] = {
		{-1, -1},   {0, 10},	{7, 10},    {8, 20},   {0xf, 20},  {0x10, 30},
		{0x18, 11}, {0x1f, 11}, {0x20, -1}, {0x28, 0}, {0x30, -1}, {1 << 20, -1},
	};
	CLEANUP(fixture_deinit) struct fixture fixture;
	struct go_code code, none = {0};
	uint32_t depth = 0;

	fixture_init(&fixture, &usual);
	go_code_read(&code, fixture.elf);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (go_code_depth(&code, usual.text + cases[i].offset, &depth) !=
			    (cases[i].depth >= 0) ||
		    (cases[i].depth >= 0 && depth != cases[i].depth))
			fail_msg("case %zu: %u bytes", i, depth);
	assert_false(go_code_depth(&none, 0, &depth));
}

TEST(sizes_of_frames_are_not_read_in_files_that_others_may_write_to)
{
	static const struct {
		mode_t mode;
		Elf64_Half machine;
		bool has_sizes, has_switches;
	} cases[] = {
		{0755, EM_X86_64, true, true},
		{0757, EM_X86_64, false, true},
		{0755, EM_AARCH64, false, false},
	};
	struct program program = usual;
	CLEANUP(fixture_deinit) struct fixture fixture;

	program.plain = "runtime.morestack";
	fixture_init(&fixture, &program);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int fd = memfd_create("test", MFD_CLOEXEC);
		CLEANUP(elf_file_cleanup) struct elf_file *elf = NULL;
		struct go_code code;
		uint32_t depth;

		fixture.file.header.e_machine = cases[i].machine;
		memcpy(fixture.file.data, &fixture.file.header, sizeof(fixture.file.header));
		assert_int_equal(write(fd, fixture.file.data, fixture.file.len), fixture.file.len);
		assert_int_equal(fchmod(fd, cases[i].mode), 0);
		assert_null(elf_file_open(fd, "test", &elf));
		go_code_read(&code, elf);
		assert_int_equal(go_code_depth(&code, usual.text, &depth), cases[i].has_sizes);
		assert_int_equal(go_code_at(&code, usual.text), GO_ORDINARY);
		assert_int_equal(go_code_at(&code, usual.text + 0x20),
				 cases[i].has_switches ? GO_MORE_STACK : GO_ORDINARY);
	}
}

TEST(a_file_with_a_section_of_go_is_of_go)
{
	static const struct {
		const char *section;
		bool is_of_go;
	} cases[] = {{".gopclntab", true},
		     {".data.rel.ro.gopclntab", true},
		     {".go.buildinfo", true},
		     {".data.rel.ro", false}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(elf_file_cleanup) struct elf_file *elf = NULL;
		struct built_elf file;
		struct go_code code;

		built_elf_init(&file);
		built_elf_section(&file, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, cases[i].section,
				  "", 1);
		built_elf_finish(&file);
		assert_null(elf_file_from_memory(file.data, file.len, "test", &elf));
		go_code_read(&code, elf);
		assert_int_equal(code.is_of_go, cases[i].is_of_go);
	}
}
