#include "base/alloc.h"
#include "probe/library_cache.h"
#include "probe/pattern.h"
#include "probe/spec.h"

#include "unit_test.h"

static struct probe_spec parse(const char *text)
{
	struct probe_spec spec;
	struct error *err = probe_spec_parse(text, &spec);

	assert_null(err);
	return spec;
}

static const char *or_none(const char *text)
{
	return text ? text : "(none)";
}

TEST(the_parts_of_a_probe_are_told_apart)
{
	static const struct {
		const char *text, *target, *function;
		uint64_t offset;
	} cases[] = {
		{"uprobe:/usr/bin/app:parse_request", "/usr/bin/app", "parse_request", 0},
		{"uprobe:app:main", "app", "main", 0},
		{"uprobe:main", "(none)", "main", 0},
		{"uprobe:libc:malloc+0x12", "libc", "malloc", 0x12},
		{"uprobe:libc:malloc+18", "libc", "malloc", 18},
		{"uprobe:app:shop::query*", "app", "shop::query*", 0},
		{"uprobe:shop::query", "(none)", "shop::query", 0},
		{"uprobe:*::parse<*>", "(none)", "*::parse<*>", 0},
		{"uprobe:<shop::Cart as core::fmt::Debug>::fmt", "(none)",
		 "<shop::Cart as core::fmt::Debug>::fmt", 0},
		{"uprobe:app:ns::operator+", "app", "ns::operator+", 0},
		{"uprobe:app:f(int, ns::T)", "app", "f(int, ns::T)", 0},
		{"usdt:python3:function__entry", "python3", "function__entry", 0},
		{"kprobe:vfs_read+0x4", "(none)", "vfs_read", 4},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(probe_spec_deinit) struct probe_spec spec = parse(cases[i].text);

		assert_string_equal(or_none(spec.target), cases[i].target);
		assert_string_equal(spec.function, cases[i].function);
		assert_int_equal(spec.place, PROBE_BY_NAME);
		assert_int_equal(spec.offset, cases[i].offset);
		assert_string_equal(spec.name, cases[i].text);
	}
}

TEST(kinds_processes_lines_and_addresses)
{
	CLEANUP(probe_spec_deinit) struct probe_spec returns = parse("uretprobe:1234:f");
	CLEANUP(probe_spec_deinit) struct probe_spec line = parse("uprobe:app:src/main.rs:120");
	CLEANUP(probe_spec_deinit) struct probe_spec own_line = parse("uprobe:src/main.rs:120");
	CLEANUP(probe_spec_deinit) struct probe_spec address = parse("uprobe:app:0x4011d6");
	CLEANUP(probe_spec_deinit) struct probe_spec usdt = parse("usdt:/bin/x:ruby:gc__*");
	CLEANUP(probe_spec_deinit) struct probe_spec latency = parse("latency:readline");

	assert_true(returns.is_return);
	assert_int_equal(returns.pid, 1234);
	assert_null(returns.target);
	assert_int_equal(line.place, PROBE_BY_LINE);
	assert_string_equal(line.target, "app");
	assert_string_equal(line.file, "src/main.rs");
	assert_int_equal(line.line, 120);
	assert_int_equal(own_line.place, PROBE_BY_LINE);
	assert_null(own_line.target);
	assert_string_equal(own_line.file, "src/main.rs");
	assert_int_equal(address.place, PROBE_BY_ADDRESS);
	assert_int_equal(address.offset, 0x4011d6);
	assert_int_equal(usdt.kind, PROBE_STATIC);
	assert_string_equal(usdt.target, "/bin/x");
	assert_string_equal(usdt.provider, "ruby");
	assert_string_equal(usdt.function, "gc__*");
	assert_true(latency.measures_calls);
}

TEST(terms_follow_between_slashes)
{
	CLEANUP(probe_spec_deinit)
	struct probe_spec spec = parse("uprobe:/bin/app:f/period=10,name=hits/");

	assert_string_equal(spec.target, "/bin/app");
	assert_string_equal(spec.function, "f");
	assert_string_equal(spec.terms, "period=10,name=hits");
	assert_string_equal(spec.name, "hits");
}

TEST(what_is_no_probe_is_an_error)
{
	static const char *const texts[] = {
		"uprobe:",
		"uprobe:app:",
		"uprobe:app:0xzz",
		"uprobe:app:a.c:0",
		"uprobe:0:f",
		"uretprobe:app:f+0x3",
		"uretprobe:app:a.c:3",
		"kprobe:0x12",
		"latency:app:0x1",
		"usdt:",
		"uprobe:f/",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct probe_spec spec;
		CLEANUP(error_cleanup) struct error *err = probe_spec_parse(texts[i], &spec);

		assert_non_null(err);
	}
}

TEST(commas_in_brackets_and_between_terms_are_of_the_probe)
{
	static const struct {
		const char *list;
		size_t len;
	} cases[] = {
		{"uprobe:app:f,cycles", 12},
		{"uprobe:app:f(int, char),cycles", 23},
		{"uprobe:app:T<A, B>::f,uprobe:x", 21},
		{"uprobe:app:f/period=1,name=x/,cycles", 29},
		{"uprobe:app:T::operator->,cycles", 24},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(probe_spec_len(cases[i].list), cases[i].len);
	assert_true(probe_is_spec("usdt:x"));
	assert_false(probe_is_spec("sched:sched_switch"));
	assert_false(probe_is_spec("uprobe/config=1/"));
}

TEST(patterns_match_whole_names)
{
	size_t len;

	assert_true(pattern_matches("shop::query*", "shop::query_all(int)"));
	assert_true(pattern_matches("*::parse<*>", "json::parse<u32>"));
	assert_true(pattern_matches("gc__?tart", "gc__start"));
	assert_true(pattern_matches("*", ""));
	assert_false(pattern_matches("query", "query_all"));
	assert_false(pattern_matches("*parse", "parser"));
	assert_false(pattern_matches("?", ""));
	assert_string_equal(pattern_key("*::parse<*>", &len), "parse<*>");
	assert_int_equal(len, 5);
	pattern_key("*", &len);
	assert_int_equal(len, 0);
}

TEST(a_library_is_known_by_its_stem)
{
	assert_true(library_is("libc.so.6", "libc"));
	assert_true(library_is("libc.so.6", "libc.so.6"));
	assert_true(library_is("libc-2.31.so", "libc"));
	assert_false(library_is("libcrypt.so.1", "libc"));
	assert_false(library_is("libc.so.6", ""));
}
