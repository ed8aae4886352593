#include "symbol/reply.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <string.h>

static const struct symbolized_line inlined[] = {
	{.name = "inner()", .system_name = "_Z5innerv", .file = "/src/a.c", .line = 7},
	{.name = "outer", .system_name = "outer", .file = "", .start_line = 3, .line = 300},
};

static const struct symbolized some_lines[] = {
	{.lines = inlined, .count = 2}, {.into_function = 300}, {.lines = inlined + 1, .count = 1}};

enum { ADDRESSES = ARRAY_SIZE(some_lines) };

static const struct name_sources some_sources = {
	.present = NAMES_EXPORTED | NAMES_DWARF,
	.debug_file = "/usr/lib/debug/x.debug",
	.split_units = 300,
	.missing_units = 7,
	.is_rust = true,
	.missing_file = "/src/a.dwo",
};

static void *some_bytes(size_t *len)
{
	return reply_write(&(struct engine_result){.lines = some_lines,
						   .problem = SOURCE_SPLIT_DWARF,
						   .symbols = SOURCE_EXPORTED_SYMBOLS,
						   .sources = some_sources},
			   ADDRESSES, len);
}

static void assert_string(const struct reply *reply, uint32_t string, const char *expected)
{
	struct bytes text = reply_string(reply, string);

	assert_int_equal(bytes_left(&text), strlen(expected));
	assert_memory_equal(text.at, expected, strlen(expected));
}

TEST(a_reply_says_what_the_engine_found)
{
	size_t len;
	void *bytes = some_bytes(&len);
	CLEANUP(reply_cleanup) struct reply *reply = reply_read(bytes, len, ADDRESSES);
	struct reply_line lines[REPLY_LINES_MAX];
	struct reply_function function;

	assert_non_null(reply);
	assert_int_equal(reply_problem(reply), SOURCE_SPLIT_DWARF);
	assert_int_equal(reply_symbols(reply), SOURCE_EXPORTED_SYMBOLS);
	assert_int_equal(reply_sources(reply).present, some_sources.present);
	assert_int_equal(reply_sources(reply).missing_units, some_sources.missing_units);
	assert_true(reply_sources(reply).is_rust);
	assert_string_equal(reply_sources(reply).debug_file, some_sources.debug_file);
	assert_string_equal(reply_sources(reply).missing_file, some_sources.missing_file);
	assert_int_equal(reply_function_count(reply), 2);
	assert_int_equal(reply_lines(reply, 1, lines), 0);
	assert_int_equal(reply_into_function(reply, 1), 300);
	assert_int_equal(reply_into_function(reply, 0), 0);
	assert_int_equal(reply_lines(reply, 0, lines), 2);
	assert_int_equal(lines[0].line, 7);
	assert_int_equal(lines[1].line, 300);
	function = reply_function(reply, lines[0].function);
	assert_string(reply, function.name, "inner()");
	assert_string(reply, function.system_name, "_Z5innerv");
	assert_string(reply, function.file, "/src/a.c");
	function = reply_function(reply, lines[1].function);
	assert_string(reply, function.name, "outer");
	assert_string(reply, function.file, "");
	assert_int_equal(function.start_line, 3);
	assert_int_equal(reply_lines(reply, 2, lines), 1);
	assert_int_equal(lines[0].function, 1);
}

static bool is_reply(const void *bytes, size_t len, size_t addresses)
{
	void *copy = xmalloc(len);
	struct reply *reply;

	memcpy(copy, bytes, len);
	reply = reply_read(copy, len, addresses);
	reply_free(reply);
	return reply;
}

TEST(a_reply_that_is_too_short_or_too_long_is_refused)
{
	size_t len;
	CLEANUP(free_ptr) unsigned char *bytes = some_bytes(&len);
	CLEANUP(free_ptr) unsigned char *longer = xcalloc(1, len + 1);

	memcpy(longer, bytes, len);
	assert_true(is_reply(bytes, len, ADDRESSES));
	for (size_t shorter = 0; shorter < len; shorter++)
		assert_false(is_reply(bytes, shorter, ADDRESSES));
	assert_false(is_reply(longer, len + 1, ADDRESSES));
	assert_false(is_reply(bytes, len, ADDRESSES - 1));
	assert_false(is_reply(bytes, len, ADDRESSES + 1));
}

/*
 * Order of the numbers: problem, symbols, sources, split and missing units,
 * Rust, debug file, missing file, strings, functions, and the lines of one
 * address or the bytes from the start of its function.
 */
TEST(a_reply_that_lies_is_refused)
{
	static const struct {
		bool is_good;
		unsigned char bytes[20];
		size_t len;
	} replies[] = {
		{true, {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 'f', 1, 1, 1, 0, 5, 1, 0, 9}, 19},
		{true, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 12},
		{false, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 11}, /* no start of the function */
		{true, {0, 0, 1, 2, 1, 0, 1, 'd', 0, 0, 0, 0, 7}, 13},
		{false, {0, 0, 0xff, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 13}, /* unknown sources */
		{false,
		 {0, 0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0},
		 12}, /* more missing units than units */
		{false,
		 {9, 0, 0, 0, 0, 0, 0, 0, 1, 1, 'f', 1, 1, 1, 0, 5, 1, 0, 9},
		 19}, /* unknown problem */
		{false,
		 {0, 9, 0, 0, 0, 0, 0, 0, 1, 1, 'f', 1, 1, 1, 0, 5, 1, 0, 9},
		 19}, /* unknown symbols */
		{false,
		 {0, 0, 0, 0, 0, 0, 0, 0, 9, 1, 'f', 1, 1, 1, 0, 5, 1, 0, 9},
		 19}, /* more strings than bytes */
		{false,
		 {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 0, 5, 1, 0, 9},
		 18}, /* an empty string */
		{false,
		 {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, '\0', 1, 1, 1, 0, 5, 1, 0, 9},
		 19}, /* a NUL in a string */
		{false,
		 {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 'f', 1, 2, 1, 0, 5, 1, 0, 9},
		 19}, /* no such string */
		{false,
		 {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 'f', 9, 1, 1, 0, 5, 1, 0, 9},
		 19}, /* more functions than bytes */
		{false,
		 {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 'f', 1, 1, 1, 0, 5, 1, 1, 9},
		 19},						      /* no such function */
		{false, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 9}, 13}, /* no functions at all */
		{false,
		 {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 'f', 1, 1, 1, 0, 5, 0xff, 0xff, 3},
		 19}, /* too many lines */
		{false,
		 {0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
		 18},
	};

	for (size_t i = 0; i < ARRAY_SIZE(replies); i++)
		assert_int_equal(is_reply(replies[i].bytes, replies[i].len, 1), replies[i].is_good);
}
