#include "cmd/control_words.h"

#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

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

static void a_line_is_a_command(void **state)
{
	(void)state;
	CLEANUP(control_words_cleanup) struct control_words *words = control_words_new();

	put(words, "enable\ndisable\n ping \r\n\n\nstop\nsnapshot  a b.pb.gz \n");
	assert_next(words, CONTROL_ENABLE, "");
	assert_next(words, CONTROL_DISABLE, "");
	assert_next(words, CONTROL_PING, "");
	assert_next(words, CONTROL_STOP, "");
	assert_next(words, CONTROL_SNAPSHOT, "a b.pb.gz");
	assert_none(words);
}

static void a_line_may_come_in_parts(void **state)
{
	(void)state;
	CLEANUP(control_words_cleanup) struct control_words *words = control_words_new();

	put(words, "ena");
	assert_none(words);
	put(words, "ble\nsnapshot /tmp/a.pb");
	assert_next(words, CONTROL_ENABLE, "");
	assert_none(words);
	put(words, ".gz\n");
	assert_next(words, CONTROL_SNAPSHOT, "/tmp/a.pb.gz");
}

/* As for perf: write(fd, "enable", 6) and write(fd, "enable\n", 8). */
static void a_nul_ends_a_line_and_a_word_needs_no_end(void **state)
{
	(void)state;
	CLEANUP(control_words_cleanup) struct control_words *words = control_words_new();

	control_words_put(words, "enable\n\0disable", 15);
	assert_next(words, CONTROL_ENABLE, "");
	assert_next(words, CONTROL_DISABLE, "");
	assert_none(words);
	control_words_put(words, "\n\0\0stop\0", 8);
	assert_next(words, CONTROL_STOP, "");
	assert_none(words);
}

static void what_is_none_is_answered_with_the_words_there_are(void **state)
{
	(void)state;
	CLEANUP(control_words_cleanup) struct control_words *words = control_words_new();

	put(words, "evlist\nenable cycles\nsnapshots\nsnapshot \n");
	assert_wrong(words, "\"evlist\" (enable, disable, ping, stop, snapshot FILE)");
	assert_wrong(words, "\"enable cycles\"");
	assert_wrong(words, "\"snapshots\"");
	assert_wrong(words, "snapshot FILE");
	assert_none(words);
}

static void a_line_that_is_too_long_is_one_mistake(void **state)
{
	(void)state;
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

static void a_path_of_any_length_fits(void **state)
{
	(void)state;
	CLEANUP(control_words_cleanup) struct control_words *words = control_words_new();
	CLEANUP(free_ptr) char *path = xcalloc(1, 4097);

	memset(path, 'x', 4095);
	put(words, "snapshot ");
	put(words, path);
	put(words, "\n");
	assert_next(words, CONTROL_SNAPSHOT, path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_a_command),
		cmocka_unit_test(a_line_may_come_in_parts),
		cmocka_unit_test(a_nul_ends_a_line_and_a_word_needs_no_end),
		cmocka_unit_test(what_is_none_is_answered_with_the_words_there_are),
		cmocka_unit_test(a_line_that_is_too_long_is_one_mistake),
		cmocka_unit_test(a_path_of_any_length_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
