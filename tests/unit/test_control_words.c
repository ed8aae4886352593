#include "cmd/record/control_words.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <stdint.h>
#include <string.h>

static void put(struct control_words *words, const char *text)
{
	control_words_put(words, text, strlen(text));
}

static void assert_next(struct control_words *words, enum control_word word, const char *argument)
{
	struct control_command command;

	assert_true(control_words_next(words, &command));
	assert_int_equal(command.word, word);
	assert_string_equal(command.argument, argument);
}

static void assert_wrong(struct control_words *words, const char *part)
{
	struct control_command command;

	assert_true(control_words_next(words, &command));
	assert_int_equal(command.word, CONTROL_WRONG);
	assert_non_null(strstr(command.argument, part));
}

static void assert_none(struct control_words *words)
{
	struct control_command command;

	assert_false(control_words_next(words, &command));
}

TEST(a_line_is_a_command)
{
	CLEANUP(control_words_cleanup) struct control_words *words = control_words_new();

	put(words, "enable\ndisable\n ping \r\n\n\nstop\nsnapshot  a b.pb.gz \n");
	assert_next(words, CONTROL_ENABLE, "");
	assert_next(words, CONTROL_DISABLE, "");
	assert_next(words, CONTROL_PING, "");
	assert_next(words, CONTROL_STOP, "");
	assert_next(words, CONTROL_SNAPSHOT, "a b.pb.gz");
	assert_none(words);
}

TEST(a_line_may_come_in_parts)
{
	CLEANUP(control_words_cleanup) struct control_words *words = control_words_new();

	put(words, "ena");
	assert_none(words);
	put(words, "ble\nsnapshot /tmp/a.pb");
	assert_next(words, CONTROL_ENABLE, "");
	assert_none(words);
	put(words, ".gz\n");
	assert_next(words, CONTROL_SNAPSHOT, "/tmp/a.pb.gz");
}

/* perf accepts both write(fd, "enable", 6) and write(fd, "enable\n", 8). */
TEST(a_nul_ends_a_line_and_a_word_needs_no_end)
{
	CLEANUP(control_words_cleanup) struct control_words *words = control_words_new();

	control_words_put(words, "enable\n\0disable", 15);
	assert_next(words, CONTROL_ENABLE, "");
	assert_next(words, CONTROL_DISABLE, "");
	assert_none(words);
	control_words_put(words, "\n\0\0stop\0", 8);
	assert_next(words, CONTROL_STOP, "");
	assert_none(words);
}

TEST(what_is_none_is_answered_with_the_words_there_are)
{
	CLEANUP(control_words_cleanup) struct control_words *words = control_words_new();

	put(words, "evlist\nenable cycles\nsnapshots\nsnapshot \n");
	assert_wrong(words, "\"evlist\" (enable, disable, ping, stop, snapshot FILE)");
	assert_wrong(words, "\"enable cycles\"");
	assert_wrong(words, "\"snapshots\"");
	assert_wrong(words, "snapshot FILE");
	assert_none(words);
}

TEST(a_line_that_is_too_long_is_one_mistake)
{
	CLEANUP(control_words_cleanup) struct control_words *words = control_words_new();
	CLEANUP(free_ptr) char *part = xcalloc(1, CONTROL_LINE_MAX + 1);

	memset(part, 'x', CONTROL_LINE_MAX);
	for (unsigned i = 0; i < 100; i++) {
		put(words, part);
		assert_none(words);
	}
	put(words, "stop\nping\n");
	assert_wrong(words, "longer than");
	assert_next(words, CONTROL_PING, "");
	assert_none(words);
}

TEST(a_path_of_any_length_fits)
{
	CLEANUP(control_words_cleanup) struct control_words *words = control_words_new();
	CLEANUP(free_ptr) char *path = xcalloc(1, 4097);

	memset(path, 'x', 4095);
	put(words, "snapshot ");
	put(words, path);
	put(words, "\n");
	assert_next(words, CONTROL_SNAPSHOT, path);
}
