#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/line_reader.h"

#include "unit_test.h"

#include <string.h>

enum { BOUND = 10 };

static void assert_lines(const char *text, size_t len, const char *const *expected)
{
	CLEANUP(close_file)
	FILE *in = len ? fmemopen((void *)(uintptr_t)text, len, "r") : fopen("/dev/null", "r");
	CLEANUP(line_reader_deinit) struct line_reader lines;

	line_reader_init(&lines, in, BOUND, UINT64_MAX);
	for (; *expected; expected++) {
		assert_true(line_reader_next(&lines));
		assert_string_equal(lines.line, *expected);
		assert_int_equal(lines.len, strlen(*expected));
		assert_memory_equal(text + lines.offset, lines.line, lines.len);
	}
	assert_false(line_reader_next(&lines));
	assert_false(line_reader_next(&lines));
}

#define ASSERT_LINES(text, ...)                                                                    \
	assert_lines(text, sizeof(text) - 1, (const char *const[]){__VA_ARGS__})

TEST(lines_come_without_their_ends)
{
	ASSERT_LINES("", NULL);
	ASSERT_LINES("\n", "", NULL);
	ASSERT_LINES("a", "a", NULL);
	ASSERT_LINES("a\n\nb\r\nc", "a", "", "b\r", "c", NULL);
}

TEST(a_long_line_is_cut_and_the_next_one_is_whole)
{
	ASSERT_LINES("0123456789\nab\n", "0123456789", "ab", NULL);
	ASSERT_LINES("0123456789X\nab\n", "0123456789", "ab", NULL);
	ASSERT_LINES("0123456789X", "0123456789", NULL);
	ASSERT_LINES("0123456789XY\n\n0123456789XYZ\nab", "0123456789", "", "0123456789", "ab",
		     NULL);
}

/* Lines of all lengths around the size of a piece that is read at once. */
TEST(lines_longer_than_the_buffer_are_whole_up_to_their_bound)
{
	enum { LONGEST = 70000 };
	CLEANUP(free_ptr) char *text = xmalloc(LONGEST + 8);

	memset(text, 'x', LONGEST);
	for (size_t len = 16380; len < LONGEST; len = len < 16390 ? len + 1 : len * 2 - 16385) {
		CLEANUP(line_reader_deinit) struct line_reader lines;
		CLEANUP(close_file) FILE *in = NULL;

		memcpy(text + len, "\nnext\n", 6);
		in = fmemopen(text, len + 6, "r");
		line_reader_init(&lines, in, LONGEST, UINT64_MAX);
		assert_true(line_reader_next(&lines));
		assert_int_equal(lines.len, len);
		assert_false(lines.is_cut);
		assert_true(line_reader_next(&lines));
		assert_string_equal(lines.line, "next");
		assert_int_equal(lines.offset, len + 1);
		assert_false(line_reader_next(&lines));
		memset(text + len, 'x', 6);
	}
}

TEST(an_endless_line_needs_little_memory)
{
	CLEANUP(close_file) FILE *zeros = fopen("/dev/zero", "r");
	CLEANUP(line_reader_deinit) struct line_reader lines;

	line_reader_init(&lines, zeros, 4096, 64 << 20);
	assert_true(line_reader_next(&lines));
	assert_true(lines.is_cut);
	assert_int_equal(lines.len, 4096);
	assert_false(line_reader_next(&lines));
	assert_int_equal(lines.left_bytes, 0);
	assert_true(lines.room <= 256 << 10);
}

TEST(the_text_ends_at_its_bound)
{
	static const char text[] = "first\nsecond\nthird\n";
	CLEANUP(close_file) FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	CLEANUP(line_reader_deinit) struct line_reader lines;

	line_reader_init(&lines, in, BOUND, 9);
	assert_true(line_reader_next(&lines));
	assert_string_equal(lines.line, "first");
	assert_true(line_reader_next(&lines));
	assert_string_equal(lines.line, "sec");
	assert_false(line_reader_next(&lines));
	assert_int_equal(lines.left_bytes, 0);
}
