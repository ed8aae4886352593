#include "dwarf/dwarf.h"

#include "base/alloc.h"
#include "built_elf.h"
#include "dwarf/search.h"
#include "dwarf/sections.h"
#include "unit_test.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* DWARF 5, chapter 7. Tests cannot include elfutils' header. */
enum {
	COMPILE_UNIT = 0x11,
	INLINED = 0x1d,
	FUNCTION = 0x2e,
	BLOCK = 0x0b,
	NAMESPACE = 0x39,

	NAME = 0x03,
	STMT_LIST = 0x10,
	LOW_PC = 0x11,
	HIGH_PC = 0x12,
	LANGUAGE = 0x13,
	COMP_DIR = 0x1b,
	ORIGIN = 0x31,
	DECL_FILE = 0x3a,
	DECL_LINE = 0x3b,
	EXTERNAL = 0x3f,
	SPECIFICATION = 0x47,
	RANGES = 0x55,
	CALL_FILE = 0x58,
	CALL_LINE = 0x59,
	LINKAGE_NAME = 0x6e,
	ADDR_BASE = 0x73,
	RNGLISTS_BASE = 0x74,
	DWO_NAME = 0x76,

	ADDR = 0x01,
	BLOCK2 = 0x03,
	BLOCK4 = 0x04,
	DATA2 = 0x05,
	DATA8 = 0x07,
	STRING = 0x08,
	BLOCK1 = 0x0a,
	DATA1 = 0x0b,
	UDATA = 0x0f,
	REF_ADDR = 0x10,
	REF4 = 0x13,
	INDIRECT = 0x16,
	SEC_OFFSET = 0x17,
	EXPRLOC = 0x18,
	FLAG_PRESENT = 0x19,
	DATA16 = 0x1e,
	RNGLISTX = 0x23,
	UNKNOWN = 0x7f,
	REF_ALT = 0x1f20,

	LANG_C = 0x0c,
	LANG_CPP = 0x1a,
};

struct buffer {
	unsigned char data[2048];
	size_t len;
};

static void put(struct buffer *to, uint64_t value, unsigned size_bytes)
{
	assert_true(to->len + size_bytes <= sizeof(to->data));
	memcpy(&to->data[to->len], &value, size_bytes);
	to->len += size_bytes;
}

static void put_uleb(struct buffer *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put(to, (value & 0x7f) | 0x80, 1);
	put(to, value, 1);
}

static void put_string(struct buffer *to, const char *str)
{
	for (; *str; str++)
		put(to, (unsigned char)*str, 1);
	put(to, 0, 1);
}

/* Writes LEB128 numbers up to -1. */
static void put_all(struct buffer *to, ...)
{
	va_list args;
	int value;

	va_start(args, to);
	while ((value = va_arg(args, int)) >= 0)
		put_uleb(to, (uint64_t)value);
	va_end(args);
}

/* Starts data after a length, which is filled in at the end. */
static size_t begin(struct buffer *to)
{
	put(to, 0, 4);
	return to->len;
}

static void end(struct buffer *to, size_t start)
{
	uint32_t len = (uint32_t)(to->len - start);

	memcpy(&to->data[start - 4], &len, 4);
}

/* The codes of the abbreviations that all tests share. A function with only a
 * name is as in C. */
enum {
	UNIT = 1,
	CODE,	       /* a function with name, address, length */
	ABSTRACT,      /* name and line */
	INLINE,	       /* origin, address, length, call file and line */
	OPEN_BLOCK,    /* with children, nothing else */
	SPACE,	       /* a namespace with a name */
	MANGLED,       /* a linkage name, no code */
	OPEN_FUNCTION, /* like CODE, with children */
	OF_DECLARATION,
	DECLARATION, /* of a function: only a name */
	UNNAMED_SPACE,
	EXTERN_C,
	LEAF_INLINE,
	RANGED,	     /* a function with name and ranges */
	EMPTY_UNIT,  /* without addresses */
	RANGED_UNIT, /* base address and ranges */
	INDEXED,     /* a function with DW_FORM_rnglistx */
	INDEXED_UNIT,
	UNTRUSTED, /* a function whose declaration is in the supplementary file */
	SKELETON,
	CIRCLE,
	ODD, /* a function with attributes of many forms and an indirect name before its address */
};

static void put_abbrevs(struct buffer *to)
{
	put_all(to, UNIT, COMPILE_UNIT, 1, NAME, STRING, COMP_DIR, STRING, STMT_LIST, SEC_OFFSET,
		LOW_PC, ADDR, HIGH_PC, DATA8, LANGUAGE, DATA2, 0, 0, -1);
	put_all(to, CODE, FUNCTION, 0, NAME, STRING, LOW_PC, ADDR, HIGH_PC, DATA8, 0, 0, -1);
	put_all(to, ABSTRACT, FUNCTION, 0, NAME, STRING, DECL_FILE, DATA1, DECL_LINE, DATA1, 0, 0,
		-1);
	put_all(to, INLINE, INLINED, 1, ORIGIN, REF4, LOW_PC, ADDR, HIGH_PC, DATA8, CALL_FILE,
		DATA1, CALL_LINE, DATA1, 0, 0, -1);
	put_all(to, OPEN_BLOCK, BLOCK, 1, 0, 0, -1);
	put_all(to, SPACE, NAMESPACE, 1, NAME, STRING, 0, 0, -1);
	put_all(to, MANGLED, FUNCTION, 0, NAME, STRING, LINKAGE_NAME, STRING, 0, 0, -1);
	put_all(to, OPEN_FUNCTION, FUNCTION, 1, NAME, STRING, LOW_PC, ADDR, HIGH_PC, DATA8, 0, 0,
		-1);
	put_all(to, OF_DECLARATION, FUNCTION, 0, SPECIFICATION, REF4, LOW_PC, ADDR, HIGH_PC, DATA8,
		0, 0, -1);
	put_all(to, DECLARATION, FUNCTION, 0, NAME, STRING, 0, 0, -1);
	put_all(to, UNNAMED_SPACE, NAMESPACE, 1, 0, 0, -1);
	put_all(to, EXTERN_C, FUNCTION, 0, NAME, STRING, EXTERNAL, FLAG_PRESENT, LOW_PC, ADDR,
		HIGH_PC, DATA8, 0, 0, -1);
	put_all(to, LEAF_INLINE, INLINED, 0, ORIGIN, REF4, LOW_PC, ADDR, HIGH_PC, DATA8, CALL_FILE,
		DATA1, CALL_LINE, DATA1, 0, 0, -1);
	put_all(to, RANGED, FUNCTION, 0, NAME, STRING, RANGES, SEC_OFFSET, 0, 0, -1);
	put_all(to, EMPTY_UNIT, COMPILE_UNIT, 1, 0, 0, -1);
	put_all(to, RANGED_UNIT, COMPILE_UNIT, 1, LOW_PC, ADDR, RANGES, SEC_OFFSET, 0, 0, -1);
	put_all(to, INDEXED, FUNCTION, 0, NAME, STRING, RANGES, RNGLISTX, 0, 0, -1);
	put_all(to, INDEXED_UNIT, COMPILE_UNIT, 1, LOW_PC, ADDR, HIGH_PC, DATA8, ADDR_BASE,
		SEC_OFFSET, RNGLISTS_BASE, SEC_OFFSET, 0, 0, -1);
	put_all(to, UNTRUSTED, FUNCTION, 0, SPECIFICATION, REF_ALT, LOW_PC, ADDR, HIGH_PC, DATA8, 0,
		0, -1);
	put_all(to, SKELETON, COMPILE_UNIT, 0, DWO_NAME, STRING, COMP_DIR, STRING, LOW_PC, ADDR,
		HIGH_PC, DATA8, 0, 0, -1);
	put_all(to, CIRCLE, FUNCTION, 0, SPECIFICATION, REF_ADDR, LOW_PC, ADDR, HIGH_PC, DATA8, 0,
		0, -1);
	put_all(to, ODD, FUNCTION, 0, 0x40, EXPRLOC, 0x41, UDATA, 0x42, BLOCK1, 0x43, BLOCK2, 0x44,
		BLOCK4, 0x45, DATA16, 0x46, STRING, 0x4a, INDIRECT, NAME, INDIRECT, LOW_PC, ADDR,
		HIGH_PC, DATA8, 0, 0, -1);
	put(to, 0, 1);
}

struct file {
	struct buffer of[DWARF_SECTION_COUNT];
	size_t unit; /* start of the current unit, which its references are relative to */
	size_t start;
};

static size_t here(const struct file *file)
{
	return file->of[DWARF_INFO].len - file->unit;
}

static struct buffer *info(struct file *file)
{
	return &file->of[DWARF_INFO];
}

static void begin_unit(struct file *file, unsigned version)
{
	if (!file->of[DWARF_ABBREV].len)
		put_abbrevs(&file->of[DWARF_ABBREV]);
	file->unit = info(file)->len;
	file->start = begin(info(file));
	put(info(file), version, 2);
	if (version >= 5)
		put(info(file), 0x0801, 2); /* DW_UT_compile, addresses of 8 bytes */
	put(info(file), 0, 4);
	if (version < 5)
		put(info(file), 8, 1);
}

static void end_unit(struct file *file)
{
	put(info(file), 0, 1); /* end of the root's children */
	end(info(file), file->start);
}

static void begin_code_unit(struct file *file, unsigned version, unsigned language)
{
	begin_unit(file, version);
	put(info(file), UNIT, 1);
	put_string(info(file), "main.c");
	put_string(info(file), "/src");
	put(info(file), 0, 4);
	put(info(file), 0x1000, 8);
	put(info(file), 0x1000, 8);
	put(info(file), language, 2);
}

static size_t put_function(struct file *file, unsigned code, const char *name, uint64_t low,
			   uint64_t length)
{
	size_t at = here(file);

	put(info(file), code, 1);
	put_string(info(file), name);
	if (code == EXTERN_C || code == CODE || code == OPEN_FUNCTION) {
		put(info(file), low, 8);
		put(info(file), length, 8);
	}
	return at;
}

static void put_inline(struct file *file, unsigned code, size_t origin, uint64_t low,
		       uint64_t length, unsigned call_line)
{
	put(info(file), code, 1);
	put(info(file), origin, 4);
	put(info(file), low, 8);
	put(info(file), length, 8);
	put(info(file), 1, 1);
	put(info(file), call_line, 1);
}

static size_t put_abstract(struct file *file, const char *name, unsigned line)
{
	size_t at = put_function(file, ABSTRACT, name, 0, 0);

	put(info(file), 1, 1);
	put(info(file), line, 1);
	return at;
}

static void put_named(struct file *file, unsigned code, const char *name)
{
	put(info(file), code, 1);
	put_string(info(file), name);
}

static void put_end(struct file *file)
{
	put(info(file), 0, 1);
}

static struct dwarf_sections sections_of(const struct file *file)
{
	struct dwarf_sections sections;

	for (unsigned i = 0; i < DWARF_SECTION_COUNT; i++)
		sections.of[i] = bytes_of(file->of[i].data, file->of[i].len);
	return sections;
}

static struct dwarf *dwarf_of(const struct file *file)
{
	const struct dwarf_sections sections = sections_of(file);

	return dwarf_of_sections(&sections, NULL);
}

/* Resolves one address. The strings are in a section or in the arena. */
static struct inline_chain resolve(const struct dwarf *dwarf, uint64_t vaddr, struct arena *arena)
{
	struct inline_chain chain = {0};
	uint32_t unit = dwarf_unit_of(dwarf, vaddr);

	if (unit != DWARF_NO_UNIT)
		dwarf_resolve(dwarf, unit, &vaddr, 1, NULL, arena, &chain);
	return chain;
}

/* expected: functions, innermost first, separated by spaces; "" for none. */
static void assert_chain(const struct dwarf *dwarf, uint64_t vaddr, const char *expected)
{
	struct arena arena = {0};
	struct inline_chain chain = resolve(dwarf, vaddr, &arena);
	char names[256] = "";

	for (unsigned i = 0; i < chain.count; i++) {
		if (i)
			strcat(names, " ");
		strcat(names, chain.calls[i].name ? chain.calls[i].name : "?");
	}
	assert_string_equal(names, expected);
	arena_deinit(&arena);
}

static void assert_chains(struct inline_chain chain, struct inline_chain other)
{
	assert_int_equal(chain.count, other.count);
	for (unsigned i = 0; i < chain.count; i++) {
		const struct call *left = &chain.calls[i], *right = &other.calls[i];

		assert_string_equal(left->name ? left->name : "?", right->name ? right->name : "?");
		assert_string_equal(left->file ? left->file : "?", right->file ? right->file : "?");
		assert_int_equal(left->line, right->line);
	}
}

/* Repeated queries must have the same result as the first one. */
static void assert_same_again(const struct file *file)
{
	CLEANUP(dwarf_cleanup) struct dwarf *once = dwarf_of(file);
	CLEANUP(dwarf_cleanup) struct dwarf *again = dwarf_of(file);
	struct arena arena = {0};

	dwarf_keep_contents(again);
	for (uint64_t vaddr = 0xff8; vaddr < 0x1080; vaddr += 4)
		assert_chains(resolve(once, vaddr, &arena), resolve(again, vaddr, &arena));
	arena_deinit(&arena);
}

static void run_backwards(void *user, size_t parts, void (*work)(void *context, size_t part),
			  void *context)
{
	size_t *most = user;

	*most = parts > *most ? parts : *most;
	while (parts)
		work(context, --parts);
}

/* The result must not depend on how a unit is divided into parts. Returns the
 * number of parts. */
static size_t assert_same_in_parts(const struct file *file)
{
	CLEANUP(dwarf_cleanup) struct dwarf *whole = dwarf_of(file);
	struct arena arena = {0};
	size_t most = 0;

	for (uint64_t bytes = 1; bytes < 64; bytes *= 4) {
		CLEANUP(dwarf_cleanup) struct dwarf *divided = dwarf_of(file);

		dwarf_share_units(divided, &(struct dwarf_sharing){bytes, run_backwards, &most});
		if (bytes > 1)
			dwarf_keep_contents(divided);
		for (uint64_t vaddr = 0xff8; vaddr < 0x1080; vaddr += 8)
			assert_chains(resolve(whole, vaddr, &arena),
				      resolve(divided, vaddr, &arena));
	}
	arena_deinit(&arena);
	return most;
}

static void assert_file(const struct file *file, uint64_t vaddr, const char *expected)
{
	CLEANUP(dwarf_cleanup) struct dwarf *dwarf = dwarf_of(file);

	assert_chain(dwarf, vaddr, expected);
	assert_same_again(file);
	assert_same_in_parts(file);
}

/* Rows for main.c (file 1): 0x1000 line 5, 0x1010 line 6; for list.h (file 2):
 * 0x1020 line 20. There is no code from 0x1030 on. */
static void put_line_program(struct buffer *to)
{
	put_all(to, 0, 9, 2, -1); /* DW_LNE_set_address */
	put(to, 0x1000, 8);
	put_all(to, 3, 4, 1, -1);		/* line + 4, copy */
	put(to, 13 + (1 + 5) + 14 * 16, 1);	/* special opcode: line + 1, address + 16 */
	put_all(to, 4, 2, 3, 14, 2, 16, 1, -1); /* file 2, line + 14, address + 16, copy */
	put_all(to, 2, 16, 0, 1, 1, -1);	/* address + 16, end_sequence */
}

static void put_opcode_table(struct buffer *to, unsigned version)
{
	put(to, 1, 1); /* bytes of the shortest instruction */
	if (version >= 4)
		put(to, 1, 1);
	put(to, 1, 1);
	put(to, (uint8_t)-5, 1); /* line base */
	put(to, 14, 1);		 /* line range */
	put(to, 13, 1);		 /* first special opcode */
	put_all(to, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, -1);
}

static void put_files(struct buffer *to, unsigned version)
{
	if (version >= 5) {
		put_all(to, 1, 1, STRING, 2, -1);
		put_string(to, "/src");
		put_string(to, "include");
		put_all(to, 2, 1, STRING, 2, DATA1, 3, -1);
		for (unsigned i = 0; i < 2; i++) {
			put_string(to, "main.c");
			put(to, 0, 1);
		}
		put_string(to, "list.h");
		put(to, 1, 1);
	} else {
		put_string(to, "include");
		put(to, 0, 1);
		put_string(to, "main.c");
		put_all(to, 0, 0, 0, -1);
		put_string(to, "list.h");
		put_all(to, 1, 0, 0, 0, -1);
	}
}

static void put_lines(struct file *file, unsigned version)
{
	struct buffer *to = &file->of[DWARF_LINE];
	size_t table = begin(to), header;

	put(to, version, 2);
	if (version >= 5)
		put(to, 8, 2); /* addresses of 8 bytes, no segments */
	header = begin(to);
	put_opcode_table(to, version);
	put_files(to, version);
	end(to, header);
	put_line_program(to);
	end(to, table);
}

/*
 * Writes these nested calls:
 *
 *	0x1000 outer          [0x1000, 0x1040)
 *		middle        [0x1010, 0x1030), called in line 30
 *		inner         [0x1020, 0x1028), called in line 40
 *		inner         [0x1038, 0x1040), called in line 31, in a block next to middle
 */
static void put_nest(struct file *file, unsigned version)
{
	size_t inner, middle;

	begin_code_unit(file, version, LANG_C);
	inner = put_abstract(file, "inner", 50);
	middle = put_abstract(file, "middle", 39);
	put_function(file, OPEN_FUNCTION, "outer", 0x1000, 0x40);
	put_inline(file, INLINE, middle, 0x1010, 0x20, 30);
	put_inline(file, LEAF_INLINE, inner, 0x1020, 8, 40);
	put_end(file);
	put(info(file), OPEN_BLOCK, 1);
	put_inline(file, LEAF_INLINE, inner, 0x1038, 8, 31);
	put_end(file);
	put_end(file);
	end_unit(file);
	put_lines(file, version);
}

TEST(inlined_functions_come_innermost_first)
{
	for (unsigned version = 3; version <= 5; version++) {
		struct file file = {0};

		put_nest(&file, version);
		assert_file(&file, 0x1000, "outer");
		assert_file(&file, 0x1010, "middle outer");
		assert_file(&file, 0x1020, "inner middle outer");
		assert_file(&file, 0x1027, "inner middle outer");
		assert_file(&file, 0x1028, "middle outer");
		assert_file(&file, 0x103f, "inner outer");
		assert_file(&file, 0x1040, "");
		assert_file(&file, 0x0fff, "");
	}
}

TEST(units_are_read_in_parts)
{
	for (unsigned version = 3; version <= 5; version++) {
		struct file file = {0};

		put_nest(&file, version);
		assert_true(assert_same_in_parts(&file) > 2);
	}
}

TEST(a_call_says_where_it_runs_and_where_it_is_called)
{
	for (unsigned version = 3; version <= 5; version++) {
		CLEANUP(dwarf_cleanup) struct dwarf *dwarf = NULL;
		struct arena arena = {0};
		struct file file = {0};
		struct inline_chain chain;

		put_nest(&file, version);
		dwarf = dwarf_of(&file);
		chain = resolve(dwarf, 0x1024, &arena);
		assert_int_equal(chain.count, 3);
		assert_string_equal(chain.calls[0].file, "/src/include/list.h");
		assert_int_equal(chain.calls[0].line, 20);
		assert_int_equal(chain.calls[0].start_line, 50);
		assert_string_equal(chain.calls[0].decl_file, "/src/main.c");
		assert_string_equal(chain.calls[1].file, "/src/main.c");
		assert_int_equal(chain.calls[1].line, 40);
		assert_int_equal(chain.calls[2].line, 30);
		arena_deinit(&arena);
	}
}

/* A mapped file may be changed while it is read. */
TEST(names_that_were_found_do_not_change_with_the_file)
{
	for (unsigned version = 3; version <= 5; version++) {
		CLEANUP(dwarf_cleanup) struct dwarf *dwarf = NULL;
		struct arena arena = {0};
		struct file file = {0};
		struct inline_chain chain;

		put_nest(&file, version);
		dwarf = dwarf_of(&file);
		chain = resolve(dwarf, 0x1024, &arena);
		for (unsigned i = 0; i < DWARF_SECTION_COUNT; i++)
			memset(file.of[i].data, 'Z', sizeof(file.of[i].data));
		assert_int_equal(chain.count, 3);
		assert_string_equal(chain.calls[0].name, "inner");
		assert_string_equal(chain.calls[0].file, "/src/include/list.h");
		assert_string_equal(chain.calls[1].file, "/src/main.c");
		assert_string_equal(chain.calls[2].name, "outer");
		arena_deinit(&arena);
	}
}

TEST(a_row_reaches_to_the_next_one_and_not_beyond_the_sequence)
{
	static const uint64_t vaddrs[] = {0x1000, 0x100f, 0x1010, 0x101f, 0x1020, 0x102f, 0x1030};
	static const unsigned lines[] = {5, 5, 6, 6, 20, 20, 0};
	CLEANUP(dwarf_cleanup) struct dwarf *dwarf = NULL;
	struct inline_chain chains[ARRAY_SIZE(vaddrs)];
	struct arena arena = {0};
	struct file file = {0};

	begin_code_unit(&file, 5, LANG_C);
	put_function(&file, CODE, "main", 0x1000, 0x40);
	end_unit(&file);
	put_lines(&file, 5);
	dwarf = dwarf_of(&file);
	dwarf_resolve(dwarf, dwarf_unit_of(dwarf, 0x1000), vaddrs, ARRAY_SIZE(vaddrs), NULL, &arena,
		      chains);
	for (size_t i = 0; i < ARRAY_SIZE(vaddrs); i++)
		assert_int_equal(chains[i].calls[0].line, lines[i]);
	assert_null(chains[6].calls[0].file);
	arena_deinit(&arena);
}

TEST(code_without_functions_has_lines_all_the_same)
{
	CLEANUP(dwarf_cleanup) struct dwarf *dwarf = NULL;
	struct arena arena = {0};
	struct file file = {0};
	struct inline_chain chain;

	begin_code_unit(&file, 5, LANG_C);
	end_unit(&file);
	put_lines(&file, 5);
	dwarf = dwarf_of(&file);
	chain = resolve(dwarf, 0x1018, &arena);
	assert_int_equal(chain.count, 1);
	assert_null(chain.calls[0].name);
	assert_string_equal(chain.calls[0].file, "/src/main.c");
	assert_int_equal(chain.calls[0].line, 6);
	arena_deinit(&arena);
}

TEST(functions_discarded_by_the_linker_name_nothing)
{
	struct file file = {0};

	begin_code_unit(&file, 4, LANG_C);
	put_function(&file, CODE, "zero", 0, 0x4000);
	put_function(&file, CODE, "live", 0x1000, 0x10);
	put_function(&file, CODE, "minus_one", (uint64_t)-1, 0x4000);
	put_function(&file, CODE, "minus_two", (uint64_t)-2, 0x4000);
	end_unit(&file);
	assert_file(&file, 0x1000, "live");
	assert_file(&file, 0x1010, "");
}

TEST(a_linkage_name_comes_before_a_name)
{
	CLEANUP(dwarf_cleanup) struct dwarf *dwarf = NULL;
	struct arena arena = {0};
	struct file file = {0};
	struct inline_chain chain;
	size_t declaration;

	begin_code_unit(&file, 5, LANG_CPP);
	declaration = put_function(&file, MANGLED, "area", 0, 0);
	put_string(info(&file), "_ZN5shape4areaEv");
	put(info(&file), OF_DECLARATION, 1);
	put(info(&file), declaration, 4);
	put(info(&file), 0x1000, 8);
	put(info(&file), 0x10, 8);
	end_unit(&file);
	dwarf = dwarf_of(&file);
	chain = resolve(dwarf, 0x1000, &arena);
	assert_string_equal(chain.calls[0].name, "_ZN5shape4areaEv");
	assert_true(chain.calls[0].is_linkage_name);
	arena_deinit(&arena);
}

TEST(a_name_alone_is_qualified_by_what_is_around_its_declaration)
{
	struct file file = {0};
	size_t declaration;

	begin_code_unit(&file, 5, LANG_CPP);
	put_named(&file, SPACE, "elsewhere");
	put_end(&file);
	put_named(&file, SPACE, "shapes");
	put(info(&file), UNNAMED_SPACE, 1);
	declaration = put_function(&file, DECLARATION, "area", 0, 0);
	put_end(&file);
	put_function(&file, EXTERN_C, "c_area", 0x1010, 0x10);
	put_function(&file, OPEN_FUNCTION, "outside", 0x1020, 0x10);
	put_function(&file, CODE, "inside", 0x1030, 0x10);
	put_end(&file);
	put_end(&file);
	put(info(&file), OF_DECLARATION, 1);
	put(info(&file), declaration, 4);
	put(info(&file), 0x1000, 8);
	put(info(&file), 0x10, 8);
	put_function(&file, CODE, "main", 0x1040, 0x10);
	end_unit(&file);
	assert_file(&file, 0x1000, "shapes::(anonymous namespace)::area");
	assert_file(&file, 0x1010, "c_area");
	assert_file(&file, 0x1020, "shapes::outside");
	assert_file(&file, 0x1030, "shapes::outside::inside");
	assert_file(&file, 0x1040, "main");
}

static bool can_demangle(void *user, const char *linkage_name)
{
	assert_string_equal(linkage_name, "_ZN6shapes4areaITkunknown");
	return *(const bool *)user;
}

TEST(a_name_beside_an_unreadable_linkage_name_is_qualified)
{
	struct file file = {0};
	const uint64_t vaddr = 0x1000;
	size_t declaration;

	begin_code_unit(&file, 5, LANG_CPP);
	put_named(&file, SPACE, "shapes");
	declaration = put_function(&file, MANGLED, "area<unknown>", 0, 0);
	put_string(info(&file), "_ZN6shapes4areaITkunknown");
	put_end(&file);
	put(info(&file), OF_DECLARATION, 1);
	put(info(&file), declaration, 4);
	put(info(&file), 0x1000, 8);
	put(info(&file), 0x10, 8);
	end_unit(&file);
	for (unsigned i = 0; i < 2; i++) {
		CLEANUP(dwarf_cleanup) struct dwarf *dwarf = dwarf_of(&file);
		bool is_readable = i;
		const struct dwarf_demangler demangler = {can_demangle, &is_readable};
		struct arena arena = {0};
		struct inline_chain chain;

		dwarf_resolve(dwarf, dwarf_unit_of(dwarf, vaddr), &vaddr, 1, &demangler, &arena,
			      &chain);
		assert_true(chain.calls[0].is_linkage_name);
		assert_string_equal(chain.calls[0].name, "_ZN6shapes4areaITkunknown");
		assert_string_equal(chain.calls[0].plain_name,
				    is_readable ? "area<unknown>" : "shapes::area<unknown>");
		arena_deinit(&arena);
	}
}

TEST(a_nested_function_is_not_inlined_into_the_one_around_it)
{
	struct file file = {0};
	size_t inner;

	begin_code_unit(&file, 5, LANG_C);
	inner = put_abstract(&file, "inner", 50);
	put_function(&file, OPEN_FUNCTION, "outer", 0x1000, 0x40);
	put_function(&file, OPEN_FUNCTION, "nested", 0x1080, 0x20);
	put_inline(&file, LEAF_INLINE, inner, 0x1080, 8, 3);
	put_end(&file);
	put_inline(&file, LEAF_INLINE, inner, 0x1008, 8, 3);
	put_end(&file);
	end_unit(&file);
	assert_file(&file, 0x1000, "outer");
	assert_file(&file, 0x1008, "inner outer");
	assert_file(&file, 0x1080, "inner nested");
	assert_file(&file, 0x1090, "nested");
}

TEST(inlined_code_may_reach_beyond_its_caller)
{
	struct file file = {0};
	size_t middle, inner;

	begin_code_unit(&file, 5, LANG_C);
	middle = put_abstract(&file, "middle", 39);
	inner = put_abstract(&file, "inner", 50);
	put_function(&file, OPEN_FUNCTION, "outer", 0x1000, 0x40);
	put_inline(&file, INLINE, middle, 0x1010, 8, 30);
	put_inline(&file, LEAF_INLINE, inner, 0x1014, 8, 40);
	put_end(&file);
	/* If sibling calls overlap, the first one has the address. */
	put_inline(&file, LEAF_INLINE, inner, 0x1010, 2, 41);
	put_end(&file);
	end_unit(&file);
	assert_file(&file, 0x1010, "middle outer");
	assert_file(&file, 0x101a, "inner middle outer");
	assert_file(&file, 0x101c, "outer");
}

static void put_pair(struct buffer *to, uint64_t first, uint64_t second)
{
	put(to, first, 8);
	put(to, second, 8);
}

TEST(a_function_may_have_several_ranges)
{
	struct file file = {0};
	struct buffer *ranges = &file.of[DWARF_RANGES];

	begin_unit(&file, 4);
	put(info(&file), RANGED_UNIT, 1);
	put(info(&file), 0x1000, 8);
	put(info(&file), 0, 4);
	put_pair(ranges, 0, 0x100); /* from the unit's address */
	put_pair(ranges, (uint64_t)-1, 0x9000);
	put_pair(ranges, 0, 0x100); /* from the new base */
	put_pair(ranges, (uint64_t)-1, (uint64_t)-1);
	put_pair(ranges, 0x2000, 0x3000); /* gone */
	put_pair(ranges, 0, 0);
	put_function(&file, RANGED, "split", 0, 0);
	put(info(&file), ranges->len, 4);
	put_pair(ranges, 0x10, 0x20);
	put_pair(ranges, 0x30, 0x30); /* empty */
	put_pair(ranges, 0x8010, 0x8020);
	put_pair(ranges, 0, 0);
	put_function(&file, CODE, "other", 0x1020, 0x10);
	end_unit(&file);
	assert_file(&file, 0x1010, "split");
	assert_file(&file, 0x1020, "other");
	assert_file(&file, 0x1030, "");
	assert_file(&file, 0x901f, "split");
	assert_file(&file, 0x9020, "");
	assert_file(&file, 0x1fff, "");
}

TEST(every_kind_of_range_list_entry_is_read)
{
	static const uint64_t addresses[] = {0x1100, 0x1110, 0x1200, 0x1300};
	struct file file = {0};
	struct buffer *lists = &file.of[DWARF_RNGLISTS];

	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++)
		put(&file.of[DWARF_ADDR], addresses[i], 8);
	begin_unit(&file, 5);
	put(info(&file), INDEXED_UNIT, 1);
	put_pair(info(&file), 0x1000, 0x1000);
	put(info(&file), 0, 4);
	put(info(&file), 4, 4); /* the offsets of the lists start there */
	put(lists, 0, 4);
	put(lists, 8, 4); /* offset of the list with index 0, which starts after index 1 */
	put(lists, 0xffffffff, 4);
	put_all(lists, 4, 0x10, 0x20, -1); /* offset_pair, from the unit's address */
	put_all(lists, 2, 0, 1, -1);	   /* startx_endx: [0x1100, 0x1110) */
	put_all(lists, 3, 2, 0x10, -1);	   /* startx_length: [0x1200, 0x1210) */
	put_all(lists, 1, 3, 4, 0, 8, -1); /* base_addressx, offset_pair: [0x1300, 0x1308) */
	put(lists, 5, 1);		   /* base_address */
	put(lists, 0x1400, 8);
	put_all(lists, 4, 4, 8, -1);
	put(lists, 6, 1); /* start_end */
	put_pair(lists, 0x1500, 0x1510);
	put(lists, 7, 1); /* start_length */
	put(lists, 0x1600, 8);
	put_all(lists, 0x10, 0, -1);
	put_function(&file, INDEXED, "listed", 0, 0);
	put(info(&file), 0, 1);
	put_function(&file, INDEXED, "outside", 0, 0);
	put(info(&file), 1, 1);
	end_unit(&file);
	for (uint64_t vaddr = 0x1000; vaddr < 0x1700; vaddr += 4) {
		static const uint64_t expected[][2] = {
			{0x1010, 0x1020}, {0x1100, 0x1110}, {0x1200, 0x1210}, {0x1300, 0x1308},
			{0x1404, 0x1408}, {0x1500, 0x1510}, {0x1600, 0x1610}};
		bool is_listed = false;

		for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
			is_listed |= vaddr >= expected[i][0] && vaddr < expected[i][1];
		assert_file(&file, vaddr, is_listed ? "listed" : "");
	}
}

TEST(a_unit_without_ranges_is_found_by_its_functions)
{
	struct file file = {0};

	begin_unit(&file, 5);
	put(info(&file), EMPTY_UNIT, 1);
	put_function(&file, CODE, "lonely", 0x5000, 0x10);
	end_unit(&file);
	assert_file(&file, 0x500f, "lonely");
	assert_file(&file, 0x5010, "");
}

TEST(of_overlapping_units_the_one_that_begins_last_has_the_address)
{
	struct file file = {0};

	for (unsigned i = 0; i < 5; i++) {
		static const uint64_t ranges[][2] = {{0x1000, 0x1000},
						     {0x1800, 0x100},
						     {0x1900, 0x800},
						     {0x1800, 0x80},
						     {0x1900, 0x800}};
		static const char *const names[] = {"wide", "narrow", "late", "narrower", "again"};

		begin_unit(&file, 5);
		put(info(&file), EMPTY_UNIT, 1);
		put_function(&file, CODE, names[i], ranges[i][0], ranges[i][1]);
		end_unit(&file);
	}
	assert_file(&file, 0x17ff, "wide");
	assert_file(&file, 0x1800, "narrower");
	assert_file(&file, 0x1880, "narrow");
	assert_file(&file, 0x1900, "late");
	assert_file(&file, 0x20ff, "late");
	assert_file(&file, 0x2100, "");
}

TEST(a_skeleton_unit_of_split_dwarf_gives_no_names)
{
	struct file file = {0};

	begin_unit(&file, 5);
	put(info(&file), SKELETON, 1);
	put_string(info(&file), "main.dwo");
	put_string(info(&file), "/src");
	put_pair(info(&file), 0x1000, 0x1000);
	end(info(&file), file.start);
	assert_file(&file, 0x1000, "");
}

TEST(names_come_from_the_supplementary_file)
{
	CLEANUP(dwarf_cleanup) struct dwarf *dwarf = NULL;
	struct file file = {0}, alt = {0};
	struct dwarf_sections sections, alt_sections;
	size_t declaration;

	begin_unit(&alt, 4);
	put(info(&alt), EMPTY_UNIT, 1);
	put_named(&alt, SPACE, "shared");
	declaration = put_function(&alt, DECLARATION, "twice", 0, 0);
	put_end(&alt);
	end_unit(&alt);
	begin_code_unit(&file, 4, LANG_CPP);
	put(info(&file), UNTRUSTED, 1);
	put(info(&file), declaration, 4);
	put_pair(info(&file), 0x1000, 0x10);
	end_unit(&file);

	sections = sections_of(&file);
	alt_sections = sections_of(&alt);
	dwarf = dwarf_of_sections(&sections, &alt_sections);
	assert_chain(dwarf, 0x1000, "shared::twice");
	assert_file(&file, 0x1000, "?"); /* the file does not exist */
}

TEST(a_circle_of_references_ends)
{
	struct file file = {0};
	size_t at;

	begin_code_unit(&file, 4, LANG_CPP);
	at = info(&file)->len;
	put(info(&file), CIRCLE, 1);
	put(info(&file), at, 4);
	put_pair(info(&file), 0x1000, 0x10);
	end_unit(&file);
	assert_file(&file, 0x1000, "?");
}

TEST(unneeded_attributes_of_any_form_are_skipped)
{
	struct file file = {0};

	begin_code_unit(&file, 4, LANG_C);
	put(info(&file), ODD, 1);
	put_all(info(&file), 3, 1, 2, 3, 1000, 1, 0, 2, 0, 1, 2, 2, 0, 0, 0, 1, 2, -1);
	put_pair(info(&file), 1, 2);
	put_string(info(&file), "skipped");
	put_all(info(&file), UDATA, 1000, STRING, -1);
	put_string(info(&file), "odd");
	put_pair(info(&file), 0x1000, 0x10);
	put_function(&file, CODE, "even", 0x1010, 0x10);
	end_unit(&file);
	assert_file(&file, 0x1000, "odd");
	assert_file(&file, 0x1010, "even");
}

/* Resolves everything in the data, whatever it contains. Sanitizers find
 * errors. */
static void resolve_everything(const struct dwarf_sections *sections)
{
	CLEANUP(dwarf_cleanup) struct dwarf *dwarf = dwarf_of_sections(sections, sections);
	struct arena arena = {0};

	for (uint64_t vaddr = 0x1000; vaddr < 0x1040; vaddr += 8)
		resolve(dwarf, vaddr, &arena);
	arena_deinit(&arena);
}

TEST(damaged_sections_cost_names_only)
{
	struct file file = {0};

	put_nest(&file, 5);
	for (unsigned section = 0; section < DWARF_SECTION_COUNT; section++) {
		struct buffer *buffer = &file.of[section];

		for (size_t i = 0; i < buffer->len; i++) {
			struct dwarf_sections sections = sections_of(&file);
			unsigned char good = buffer->data[i];
			CLEANUP(free_ptr) void *copy = xmalloc(i + 1);

			/* truncated, in memory that ends there */
			memcpy(copy, buffer->data, i);
			sections.of[section] = bytes_of(copy, i);
			resolve_everything(&sections);
			/* overwritten */
			sections = sections_of(&file);
			buffer->data[i] = 0xff;
			resolve_everything(&sections);
			buffer->data[i] = (unsigned char)(good + 1);
			resolve_everything(&sections);
			buffer->data[i] = good;
		}
	}
	assert_file(&file, 0x1020, "inner middle outer");
}

/* Returns a descriptor of an ELF file whose section names end with `suffix`. */
static int fd_of(const struct file *file, const char *suffix, struct bytes package_index)
{
	static const struct {
		enum dwarf_section section;
		const char *name;
	} all[] = {{DWARF_INFO, ".debug_info"},
		   {DWARF_ABBREV, ".debug_abbrev"},
		   {DWARF_LINE, ".debug_line"}};
	static struct built_elf built;
	int fd = memfd_create("debug", MFD_CLOEXEC);

	built_elf_init(&built);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		const struct buffer *buffer = &file->of[all[i].section];
		CLEANUP(free_ptr) char *name = xasprintf("%s%s", all[i].name, suffix);

		built_elf_section(&built, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, name, buffer->data,
				  buffer->len);
	}
	built_elf_section(&built, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, ".debug_cu_index",
			  package_index.at, bytes_left(&package_index));
	built_elf_finish(&built);
	assert_int_equal(write(fd, built.data, built.len), built.len);
	return fd;
}

static struct elf_file *elf_of(const struct file *file)
{
	struct elf_file *elf = NULL;

	assert_null(elf_file_open(fd_of(file, "", bytes_of(NULL, 0)), "/bin/prog", &elf));
	return elf;
}

TEST(a_line_is_searched_in_files_of_that_name)
{
	static const struct {
		const char *file;
		uint32_t line;
		uint64_t vaddr; /* 0 if there is none */
		bool has_file;
		uint32_t before, after;
	} cases[] = {
		{"main.c", 5, 0x1000, true, 0, 6},	{"/src/main.c", 6, 0x1010, true, 5, 0},
		{"main.c", 7, 0, true, 6, 0},		{"main.c", 4, 0, true, 0, 5},
		{"list.h", 20, 0x1020, true, 0, 0},	{"/list.h", 20, 0x1020, true, 0, 0},
		{"include/list.h", 21, 0, true, 20, 0}, {"ist.h", 20, 0, false, 0, 0},
	};
	struct file file = {0};

	put_nest(&file, 5);
	CLEANUP(elf_file_cleanup) struct elf_file *elf = elf_of(&file);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct dwarf_line_search search = {.file = cases[i].file, .line = cases[i].line};

		dwarf_search_line(&search, elf, NULL);
		assert_int_equal(search.count, cases[i].vaddr != 0);
		assert_int_equal(search.count ? search.vaddrs[0] : 0, cases[i].vaddr);
		assert_int_equal(search.has_file, cases[i].has_file);
		assert_int_equal(search.before, cases[i].before);
		assert_int_equal(search.after, cases[i].after);
		dwarf_line_search_deinit(&search);
	}
}

struct inlined_search {
	unsigned wanted;
	char found[64];
};

static bool note_inlined(void *user, const struct dwarf_inlined *inlined)
{
	struct inlined_search *search = user;
	size_t len = strlen(search->found);

	snprintf(search->found + len, sizeof(search->found) - len, "%s %s:%u ", inlined->name,
		 inlined->caller_file, inlined->caller_line);
	return --search->wanted == 0;
}

TEST(functions_that_are_inlined_are_given_once)
{
	static const char *const found[] = {"middle /src/main.c:30 ",
					    "middle /src/main.c:30 inner /src/main.c:40 "};
	struct file file = {0};

	put_nest(&file, 5);
	CLEANUP(elf_file_cleanup) struct elf_file *elf = elf_of(&file);

	for (unsigned wanted = 1; wanted <= 3; wanted++) {
		struct inlined_search search = {.wanted = wanted};
		struct arena arena = {0};

		dwarf_search_inlined(elf, NULL, &arena, note_inlined, &search);
		assert_string_equal(search.found, found[wanted > 1]);
		arena_deinit(&arena);
	}
}

enum { SPLIT_ID = 77 };

/* The place of the only split unit, and the requested files. */
struct split_place {
	const char *name;
	uint64_t id;
	char asked[256];
};

static void begin_split_unit(struct file *file, unsigned type, uint64_t id)
{
	put_abbrevs(&file->of[DWARF_ABBREV]);
	file->start = begin(info(file));
	put(info(file), 5, 2);
	put(info(file), type, 1);
	put(info(file), 8, 1);
	put(info(file), 0, 4);
	put(info(file), id, 8);
}

static int open_split(void *user, const struct debugfile_question *question, unsigned attempt,
		      char **path)
{
	struct split_place *place = user;
	struct file file = {0};

	if (!attempt)
		strcat(strcat(place->asked, question->name), " ");
	if (attempt || strcmp(question->name, place->name) != 0)
		return -1;
	assert_int_equal(question->kind,
			 *place->name == '/' ? DEBUGFILE_BY_PATH : DEBUGFILE_BY_LINK);
	begin_split_unit(&file, 5, place->id);
	put(info(&file), EMPTY_UNIT, 1);
	put_function(&file, CODE, "split", 0x1000, 0x10);
	end_unit(&file);
	uint32_t index[16] = {5, 2, 1, 2, 0, 0, SPLIT_ID, 0, 0, 1, 1, 3};
	bool is_package = strstr(place->name, ".dwp");

	index[14] = (uint32_t)info(&file)->len;
	index[15] = (uint32_t)file.of[DWARF_ABBREV].len;
	*path = xstrdup(place->name);
	return fd_of(&file, ".dwo", bytes_of(index, is_package ? sizeof(index) : 0));
}

TEST(a_split_unit_is_found_in_its_package_or_in_files_of_its_name)
{
#define ASKED_ALL "prog.dwp /src/obj/main.dwo /bin/obj/main.dwo main.dwo "
	static const struct {
		const char *name;
		uint64_t id;
		/* requested files if files are not kept open */
		const char *asked, *asked_again;
	} cases[] = {
		{"prog.dwp", SPLIT_ID, "prog.dwp ", ""},
		{"/src/obj/main.dwo", SPLIT_ID, "prog.dwp /src/obj/main.dwo ",
		 "/src/obj/main.dwo "},
		{"/bin/obj/main.dwo", SPLIT_ID, "prog.dwp /src/obj/main.dwo /bin/obj/main.dwo ",
		 "/src/obj/main.dwo /bin/obj/main.dwo "},
		{"main.dwo", SPLIT_ID, ASKED_ALL, "/src/obj/main.dwo /bin/obj/main.dwo main.dwo "},
		{"main.dwo", SPLIT_ID + 1,
		 ASKED_ALL "/src/obj/main.dwo /bin/obj/main.dwo main.dwo ", ""},
	};
	struct file file = {0};

	begin_split_unit(&file, 4, SPLIT_ID);
	put(info(&file), SKELETON, 1);
	put_string(info(&file), "obj/main.dwo");
	put_string(info(&file), "/src");
	put_pair(info(&file), 0x1000, 0x1000);
	end(info(&file), file.start);
	CLEANUP(elf_file_cleanup) struct elf_file *elf = elf_of(&file);

	for (size_t i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		bool keeps = i % 2, is_found = cases[i / 2].id == SPLIT_ID;
		struct split_place place = {.name = cases[i / 2].name, .id = cases[i / 2].id};
		const struct debugfile_opener opener = {.open = open_split, .user = &place};
		CLEANUP(dwarf_cleanup) struct dwarf *dwarf = dwarf_new(elf, NULL);
		struct dwarf_split_counts counts;

		dwarf_follow_splits(dwarf, elf, &opener);
		if (keeps)
			dwarf_keep_contents(dwarf);
		assert_chain(dwarf, 0x1008, is_found ? "split" : "");
		assert_string_equal(place.asked, cases[i / 2].asked);
		*place.asked = '\0';
		assert_chain(dwarf, 0x1008, is_found ? "split" : "");
		assert_string_equal(place.asked, keeps ? "" : cases[i / 2].asked_again);
		counts = dwarf_split_counts(dwarf);
		assert_int_equal(counts.units, 1);
		assert_int_equal(counts.missing, !is_found);
		assert_false(counts.has_changed);
		assert_int_equal(counts.example != NULL, !is_found);
		if (counts.example)
			assert_string_equal(counts.example, "/src/obj/main.dwo");
		free(counts.example);
	}
}

/* Returns true if the function of main.c is found after this many zeros in
 * .debug_info. */
static bool is_found_after_zeros(size_t zeros)
{
	struct file file = {.unit = 0};
	CLEANUP(free_ptr) unsigned char *padded = NULL;
	CLEANUP(dwarf_cleanup) struct dwarf *dwarf = NULL;
	struct dwarf_sections sections;

	begin_code_unit(&file, 4, LANG_C);
	put_function(&file, CODE, "main", 0x1000, 0x100);
	end_unit(&file);
	sections = sections_of(&file);
	padded = calloc(1, zeros + info(&file)->len);
	memcpy(padded + zeros, info(&file)->data, info(&file)->len);
	sections.of[DWARF_INFO] = bytes_of(padded, zeros + info(&file)->len);
	dwarf = dwarf_of_sections(&sections, NULL);
	return dwarf_unit_of(dwarf, 0x1010) != DWARF_NO_UNIT;
}

/* Checks a unit of that version, which has a function with a name of that form
 * after the function at 0x1000. */
static void assert_reading(unsigned version, unsigned form, bool has_unread, bool is_read)
{
	struct file file = {0};
	CLEANUP(dwarf_cleanup) struct dwarf *dwarf = NULL;
	struct arena arena = {0};
	struct inline_chain chain;
	uint64_t vaddr = 0x1000;

	put_all(&file.of[DWARF_ABBREV], ODD + 1, FUNCTION, 0, NAME, form, 0, 0, -1);
	begin_code_unit(&file, version, LANG_C);
	put_abbrevs(&file.of[DWARF_ABBREV]);
	put_function(&file, CODE, "main", vaddr, 0x10);
	put_function(&file, ODD + 1, "odd", 0, 0);
	end_unit(&file);
	put_lines(&file, 4);
	dwarf = dwarf_of(&file);
	assert_int_equal(dwarf_has_unread(dwarf), has_unread);
	if (!has_unread)
		assert_int_equal(dwarf_resolve(dwarf, dwarf_unit_of(dwarf, vaddr), &vaddr, 1, NULL,
					       &arena, &chain),
				 is_read);
	arena_deinit(&arena);
}

TEST(what_is_not_understood_is_reported)
{
	assert_reading(4, STRING, false, true);
	assert_reading(5, STRING, false, true);
	assert_reading(4, UNKNOWN, false, false);
	assert_reading(6, STRING, true, false);
	assert_reading(1, STRING, true, false);
	/* A unit with an unknown root entry, before a valid one. */
	struct file file = {0};
	CLEANUP(dwarf_cleanup) struct dwarf *dwarf = NULL;

	put_all(&file.of[DWARF_ABBREV], ODD + 1, COMPILE_UNIT, 0, 0x40, UNKNOWN, 0, 0, -1);
	put_abbrevs(&file.of[DWARF_ABBREV]);
	for (unsigned i = 0; i < 2; i++) {
		begin_unit(&file, 4);
		put(info(&file), i ? EMPTY_UNIT : ODD + 1, 1);
		end_unit(&file);
	}
	dwarf = dwarf_of(&file);
	assert_true(dwarf_has_unread(dwarf));
}

/* Linkers pad with zeros, but gigabytes of zeros must not be read to the end. */
TEST(units_are_found_after_padding_but_not_after_megabytes_of_zeros)
{
	assert_true(is_found_after_zeros(0));
	assert_true(is_found_after_zeros(4 * ((1 << 20) - 1)));
	assert_false(is_found_after_zeros(4 << 20));
}
