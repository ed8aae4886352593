#include "symbol/name_aliases.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

/* Makes a reply with functions in this order and only the members that matter. */
static struct reply *reply_of(const struct symbolized_line *lines, unsigned count)
{
	struct symbolized naming = {.lines = lines, .count = count};
	size_t len;
	void *bytes = reply_write(&(struct engine_result){.lines = &naming}, 1, &len);

	return reply_read(bytes, len, 1);
}

static void assert_name_aliases(const struct symbolized_line *lines, unsigned count,
				const uint32_t *expected)
{
	CLEANUP(reply_cleanup) struct reply *reply = reply_of(lines, count);
	CLEANUP(free_ptr) uint32_t *names = NULL;

	assert_non_null(reply);
	assert_int_equal(reply_function_count(reply), count);
	names = name_aliases_of(reply);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(names[i], expected[i]);
}

TEST(an_inlined_static_function_has_the_name_of_its_symbol)
{
	static const struct symbolized_line lines[] = {
		{.name = "ns::f", .system_name = "ns::f", .file = "a.cc", .start_line = 7},
		{.name = "ns::f(int)",
		 .system_name = "_ZN2nsL1fEi",
		 .file = "a.cc",
		 .start_line = 7},
	};

	assert_name_aliases(lines, 2, (const uint32_t[]){1, 1});
}

TEST(another_line_or_file_is_another_function)
{
	static const struct symbolized_line lines[] = {
		{.name = "f", .system_name = "f", .file = "a.cc", .start_line = 7},
		{.name = "f(int)", .system_name = "_ZL1fi", .file = "a.cc", .start_line = 8},
		{.name = "f(long)", .system_name = "_ZL1fl", .file = "b.cc", .start_line = 7},
		{.name = "ff(long)", .system_name = "_ZL2ffl", .file = "a.cc", .start_line = 7},
	};

	assert_name_aliases(lines, 4, (const uint32_t[]){0, 1, 2, 3});
}

TEST(without_a_line_nothing_is_known)
{
	static const struct symbolized_line lines[] = {
		{.name = "f", .system_name = "f", .file = "a.cc"},
		{.name = "f(int)", .system_name = "_ZL1fi", .file = "a.cc"},
	};

	assert_name_aliases(lines, 2, (const uint32_t[]){0, 1});
}

TEST(a_name_of_two_functions_stays)
{
	static const struct symbolized_line lines[] = {
		{.name = "f", .system_name = "f", .file = "a.cc", .start_line = 7},
		{.name = "f(int)", .system_name = "_ZL1fi", .file = "a.cc", .start_line = 7},
		{.name = "f(long)", .system_name = "_ZL1fl", .file = "a.cc", .start_line = 7},
	};

	assert_name_aliases(lines, 3, (const uint32_t[]){0, 1, 2});
}

TEST(a_return_type_does_not_matter)
{
	static const struct symbolized_line lines[] = {
		{.name = "(anonymous namespace)::f<char>",
		 .system_name = "(anonymous namespace)::f<char>",
		 .file = "a.cc",
		 .start_line = 7},
		{.name = "long (anonymous namespace)::f<char>(char)",
		 .system_name = "_ZN12_GLOBAL__N_11fIcEElT_",
		 .file = "a.cc",
		 .start_line = 7},
	};

	assert_name_aliases(lines, 2, (const uint32_t[]){1, 1});
}
