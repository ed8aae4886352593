#include "symbol/line_builder.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

/* This program's symbols, a line builder, and synthetic DWARF for
 * some_function(). */
struct fixture {
	struct elf_file *elf;
	struct source source;
	struct line_builder *builder;
	uint64_t vaddr;
};

__attribute__((noinline, used)) static void some_function(void)
{
	__asm__ volatile("");
}

/* A symbol of GNAT's run-time library, which makes this an Ada program. */
__attribute__((used)) static int __gnat_like;

static struct fixture fixture_new(void)
{
	void (*function)(void) = some_function;
	struct fixture fixture = {.builder = line_builder_new()};
	struct link_map *map;
	Dl_info info;

	assert_null(
		elf_file_open(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), "self", &fixture.elf));
	fixture.source.symtab = symtab_new(fixture.elf, NULL);
	assert_int_not_equal(
		dladdr1((void *)(uintptr_t)function, &info, (void **)&map, RTLD_DL_LINKMAP), 0);
	fixture.vaddr = (uint64_t)(uintptr_t)function - map->l_addr;
	return fixture;
}

static void fixture_deinit(struct fixture *fixture)
{
	line_builder_free(fixture->builder);
	source_close(&fixture->source);
	elf_file_free(fixture->elf);
}

static struct symbolized name_calls(struct fixture *fixture, const struct call *calls,
				    unsigned count)
{
	struct inline_chain chain = {.calls = calls, .count = count};

	return line_builder_lines(fixture->builder, &fixture->source, fixture->vaddr, chain);
}

TEST(without_dwarf_the_symbol_is_the_only_line)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	struct symbolized naming = name_calls(&fixture, NULL, 0);

	assert_int_equal(naming.count, 1);
	assert_string_equal(naming.lines[0].name, "some_function");
	assert_string_equal(naming.lines[0].file, "");
	assert_int_equal(naming.lines[0].line, 0);
}

TEST(the_outermost_line_has_the_symbols_name_and_dwarfs_place)
{
	static const struct call calls[] = {
		{.name = "_Z5innerv", .is_linkage_name = true, .file = "in.h", .line = 3},
		/* A name that is a prefix of "some_function", as "f" is of
		 * "f.cold". */
		{.name = "some_func", .is_linkage_name = true, .file = "out.c", .line = 30},
	};
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	struct symbolized naming = name_calls(&fixture, calls, ARRAY_SIZE(calls));

	assert_int_equal(naming.count, 2);
	assert_string_equal(naming.lines[0].name, "inner()");
	assert_string_equal(naming.lines[0].system_name, "_Z5innerv");
	assert_string_equal(naming.lines[0].file, "in.h");
	assert_string_equal(naming.lines[1].name, "some_function");
	assert_string_equal(naming.lines[1].file, "out.c");
	assert_int_equal(naming.lines[1].line, 30);
}

TEST(of_folded_functions_the_one_is_named_whose_lines_are_shown)
{
	static const struct call call = {
		.name = "_Z6foldedv", .is_linkage_name = true, .file = "folded.cc", .line = 3};
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	struct symbolized naming = name_calls(&fixture, &call, 1);

	assert_int_equal(naming.count, 1);
	assert_string_equal(naming.lines[0].name, "folded()");
}

TEST(of_the_aliases_of_a_function_the_plain_one_is_shown)
{
	static const struct call call = {
		.name = "__GI___some_function", .is_linkage_name = true, .file = "some.c"};
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();

	assert_string_equal(name_calls(&fixture, &call, 1).lines[0].name, "some_function");
}

TEST(a_function_of_glibc_has_its_public_name)
{
	/* The calls that are inlined into malloc(). */
	static const struct call calls[] = {
		{.name = "__GI___inner", .is_linkage_name = true, .file = "some.c"},
		{.name = "__GI___libc_function", .is_linkage_name = true, .file = "some.c"},
	};
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	struct symbolized naming = name_calls(&fixture, calls, ARRAY_SIZE(calls));

	assert_string_equal(naming.lines[0].name, "__inner");
	assert_string_equal(naming.lines[0].system_name, "__GI___inner");
	assert_string_equal(naming.lines[1].name, "some_function");
}

TEST(the_body_of_an_async_function_is_told_from_a_closure)
{
	static const struct call calls[] = {
		{.name = "_ZN4shop4cart28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
		 .is_linkage_name = true,
		 .plain_name = "{async_fn#0}<u32>"},
		{.name = "_RNCNvCsF7y1RwQtD_4shop4cart0",
		 .is_linkage_name = true,
		 .plain_name = "{async_block#2}"},
		{.name = "_RNCNvCsF7y1RwQtD_4shop4cart0",
		 .is_linkage_name = true,
		 .plain_name = "{closure#0}"},
		/* DWARF of another function, and a name without an end. */
		{.name = "_ZN4shop4cart17h0123456789abcdefE",
		 .is_linkage_name = true,
		 .plain_name = "{async_fn#0}"},
		{.name = "_RNCNvCsF7y1RwQtD_4shop4cart0",
		 .is_linkage_name = true,
		 .plain_name = "{async_fn"},
	};
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	struct symbolized naming = name_calls(&fixture, calls, ARRAY_SIZE(calls));

	assert_string_equal(naming.lines[0].name, "shop::cart::{async_fn#0}");
	assert_string_equal(naming.lines[0].system_name, calls[0].name);
	assert_string_equal(naming.lines[1].name, "shop::cart::{async_block#2}");
	assert_string_equal(naming.lines[2].name, "shop::cart::{closure#0}");
	assert_string_equal(naming.lines[3].name, "shop::cart");
	assert_string_equal(naming.lines[4].name, "shop::cart::{closure#0}");
}

TEST(a_nameless_inlined_call_is_left_out)
{
	static const struct call calls[] = {
		{.file = "nameless.h", .line = 1},
		{.name = "some_function", .file = "out.c", .line = 2},
	};
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	struct symbolized naming = name_calls(&fixture, calls, ARRAY_SIZE(calls));

	assert_int_equal(naming.count, 1);
	assert_string_equal(naming.lines[0].name, "some_function");
	assert_int_equal(naming.lines[0].line, 2);
}

TEST(the_first_line_counts_only_in_the_file_that_ran)
{
	static const struct call calls[] = {
		{.name = "same", .file = "a.c", .decl_file = "a.c", .start_line = 7, .line = 9},
		{.name = "included", .file = "b.inc", .decl_file = "a.c", .start_line = 7},
		{.name = "unknown", .decl_file = "a.c", .start_line = 7},
		{.name = "some_function", .file = "a.c", .start_line = 7},
	};
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	struct symbolized naming = name_calls(&fixture, calls, ARRAY_SIZE(calls));

	assert_int_equal(naming.count, 4);
	assert_int_equal(naming.lines[0].start_line, 7);
	assert_string_equal(naming.lines[1].file, "b.inc");
	assert_int_equal(naming.lines[1].start_line, 0);
	assert_string_equal(naming.lines[2].file, "a.c");
	assert_int_equal(naming.lines[2].start_line, 7);
	assert_int_equal(naming.lines[3].start_line, 7);
}

TEST(names_from_symbol_lists_are_demangled)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	struct symbolized rust = line_builder_listed(
		fixture.builder, "_RNvCskwGfYPst2Cb_3foo4init [rust_module]", NULL);

	assert_int_equal(rust.count, 1);
	assert_string_equal(rust.lines[0].name, "foo::init [rust_module]");
	assert_int_equal(line_builder_listed(fixture.builder, NULL, NULL).count, 0);
}

TEST(a_name_that_no_demangler_reads_is_that_of_dwarf)
{
	static const struct call calls[] = {
		{.name = "_ZN6shapes4areaITkunknown",
		 .is_linkage_name = true,
		 .plain_name = "shapes::area<unknown>"},
		{.name = "_ZN6shapes4areaITkunknown", .is_linkage_name = true},
		{.name = "_Z4areav", .is_linkage_name = true, .plain_name = "area"},
	};
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();

	for (unsigned i = 0; i < ARRAY_SIZE(calls); i++)
		assert_int_equal(line_builder_can_demangle(fixture.builder, calls[i].name), i == 2);
	assert_true(line_builder_can_demangle(fixture.builder, "main"));
	assert_string_equal(name_calls(&fixture, &calls[0], 1).lines[0].name,
			    "shapes::area<unknown>");
	assert_string_equal(name_calls(&fixture, &calls[0], 1).lines[0].system_name, calls[0].name);
	assert_string_equal(name_calls(&fixture, &calls[1], 1).lines[0].name, calls[1].name);
	assert_string_equal(name_calls(&fixture, &calls[2], 1).lines[0].name, "area()");
}

TEST(names_of_a_program_with_ada_code_are_of_ada)
{
	static const struct call calls[] = {
		{.name = "_Z5innerv", .is_linkage_name = true},
		{.name = "pkg__child__half__2", .is_linkage_name = true},
		{.name = "pkg__child__hot"},
		{.name = "some_name"},
		{.name = "some_func", .is_linkage_name = true},
	};
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	struct symbolized naming = name_calls(&fixture, calls, ARRAY_SIZE(calls));

	assert_true(symtab_is_of_ada(fixture.source.symtab));
	assert_string_equal(naming.lines[0].name, "inner()");
	assert_string_equal(naming.lines[1].name, "pkg.child.half");
	assert_string_equal(naming.lines[1].system_name, "pkg__child__half__2");
	assert_string_equal(naming.lines[2].name, "pkg.child.hot");
	assert_string_equal(naming.lines[3].name, "some_name");
	assert_string_equal(naming.lines[4].name, "some_function");
}

TEST(parts_of_a_function_are_called_like_it)
{
	CLEANUP(fixture_deinit) struct fixture fixture = fixture_new();
	struct symbolized kernel = line_builder_kernel(fixture.builder, "parse.isra.0.cold");
	struct symbolized listed = line_builder_listed(fixture.builder, "parse.isra.0.cold", NULL);

	assert_string_equal(kernel.lines[0].name, "parse");
	assert_string_equal(kernel.lines[0].system_name, "parse.isra.0.cold");
	assert_string_equal(listed.lines[0].name, "parse.isra.0.cold");
	kernel = line_builder_kernel(fixture.builder, "_Z3foov.part.0");
	assert_string_equal(kernel.lines[0].name, "foo()");
	assert_int_equal(line_builder_kernel(fixture.builder, NULL).count, 0);
}
