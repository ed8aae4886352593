#include "cmd/cargo/line.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

/* Returns the strings of a list, joined by spaces. The caller frees them. */
static char *joined(const struct string_list *words)
{
	char *text = xstrdup("");

	for (size_t i = 0; i < words->count; i++) {
		char *longer = xasprintf("%s%s%s", text, i ? " " : "", words->items[i]);

		free(text);
		text = longer;
	}
	return text;
}

/* Parses the words of a text, which must outlive the line. */
static struct cargo_line parsed(struct string_list *words, const char *text)
{
	struct cargo_line line;

	string_list_split(words, text);
	cargo_line_parse(words->items, &line);
	return line;
}

/* expected is NULL if cargo cannot be asked. */
static void assert_question(const char *text, const char *config, const char *expected)
{
	CLEANUP(string_list_deinit) struct string_list words = {0}, question = {0};
	CLEANUP(cargo_line_deinit) struct cargo_line line = parsed(&words, text);
	CLEANUP(free_ptr) char *found = NULL;
	struct json_value value;

	assert_true(json_parse(config, strlen(config), &value));
	cargo_line_expand(&line, &value);
	assert_int_equal(cargo_line_add_question(&line, &question), expected != NULL);
	found = joined(&question);
	assert_string_equal(found, expected ? expected : "");
}

TEST(test_a_question_has_the_words_of_the_command)
{
	assert_question("run --release -- a -b", "{}",
			"run --unit-graph -Zunstable-options --release -- a -b");
	assert_question("--config x=1 -q test it", "{}",
			"--config x=1 -q test --unit-graph -Zunstable-options it");
	assert_question("+nightly bench --bench parser", "{}",
			"bench --unit-graph -Zunstable-options --bench parser");
}

TEST(test_a_question_for_nextest_is_one_of_cargo_test)
{
	assert_question("nextest run -p shop --release -E test(a) --retries 2 name", "{}",
			"test --unit-graph -Zunstable-options -p shop --release");
	assert_question("nextest run --profile ci --cargo-profile fast --no-capture", "{}",
			"test --unit-graph -Zunstable-options --profile fast");
	assert_question("nextest r --cargo-profile=fast -- --profile x", "{}",
			"test --unit-graph -Zunstable-options --profile=fast");
	assert_question("nextest list", "{}", NULL);
}

TEST(test_aliases_are_expanded)
{
	static const char config[] =
		"{\"alias\":{\"xt\":\"rr --bin tasks --\",\"rr\":[\"run\",\"--release\"],"
		"\"loop\":\"loop\",\"test\":\"run\",\"t\":\"bench\"}}";

	assert_question("-v xt now", config,
			"-v run --unit-graph -Zunstable-options --release --bin tasks -- now");
	assert_question("loop", config, NULL);
	assert_question("test", config, "test --unit-graph -Zunstable-options");
	assert_question("t", config, "bench --unit-graph -Zunstable-options");
	assert_question("t", "{}", "test --unit-graph -Zunstable-options");
	assert_question("r", "{}", "run --unit-graph -Zunstable-options");
}

TEST(test_other_commands_have_no_question)
{
	assert_question("build --release", "{}", NULL);
	assert_question("--version", "{}", NULL);
	assert_question("+stable", "{}", NULL);
	assert_question("--config", "{}", NULL);
}

static void assert_configuration(const char *text, const char *expected)
{
	CLEANUP(string_list_deinit) struct string_list words = {0}, found = {0};
	CLEANUP(cargo_line_deinit) struct cargo_line line = parsed(&words, text);
	CLEANUP(free_ptr) char *options = NULL;

	cargo_line_add_configuration(&line, &found);
	options = joined(&found);
	assert_string_equal(options, expected);
}

TEST(test_options_of_the_configuration_are_found_on_both_sides)
{
	assert_configuration("--config a=1 test --config=b=2 name -Zx",
			     "--config a=1 --config=b=2 -Zx");
	assert_configuration("run -p shop --config a=1 word --config b=2", "--config a=1");
	assert_configuration("run -- --config b=2", "");
}
