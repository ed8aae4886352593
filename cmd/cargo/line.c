#include "cmd/cargo/line.h"

#include "base/alloc.h"
#include "base/text.h"

#include <string.h>

/* The maximum depth of aliases that name other aliases. */
enum { ALIASES_MAX = 8 };

/* Options of cargo whose argument is the next word. */
static const char *const with_argument[] = {"-C",
					    "-F",
					    "-Z",
					    "-j",
					    "-p",
					    "--bench",
					    "--bin",
					    "--color",
					    "--config",
					    "--example",
					    "--exclude",
					    "--explain",
					    "--features",
					    "--jobs",
					    "--lockfile-path",
					    "--manifest-path",
					    "--message-format",
					    "--package",
					    "--profile",
					    "--target",
					    "--target-dir",
					    "--test",
					    NULL};

/* Options that choose the configuration. */
static const char *const of_configuration[] = {"-C", "-Z", "--config", NULL};

/* Options of `cargo nextest run` that `cargo test` also has. */
static const char *const of_both[] = {"-C",
				      "-F",
				      "-Z",
				      "-p",
				      "--bench",
				      "--bin",
				      "--config",
				      "--example",
				      "--exclude",
				      "--features",
				      "--manifest-path",
				      "--package",
				      "--target",
				      "--target-dir",
				      "--test",
				      "--all-features",
				      "--all-targets",
				      "--benches",
				      "--bins",
				      "--examples",
				      "--frozen",
				      "--ignore-rust-version",
				      "--lib",
				      "--locked",
				      "--no-default-features",
				      "--offline",
				      "--release",
				      "--tests",
				      "--workspace",
				      "--all",
				      "-r",
				      NULL};

/* Returns the length of an option's name in a word such as --config=x or -Cdir. */
static size_t cargo_line_name_len(const char *word)
{
	if (word[0] == '-' && word[1] && word[1] != '-')
		return 2;
	return strcspn(word, "=");
}

static bool cargo_line_is_one_of(const char *word, const char *const *names)
{
	size_t len = cargo_line_name_len(word);

	for (; *names; names++)
		if (strlen(*names) == len && !strncmp(*names, word, len))
			return true;
	return false;
}

static bool takes_next(const char *word)
{
	return cargo_line_is_one_of(word, with_argument) && !word[cargo_line_name_len(word)];
}

/* Moves past an option with its argument. */
static char *const *after_option(char *const *at)
{
	return takes_next(at[0]) && at[1] ? at + 2 : at + 1;
}

static bool is_option(const char *word)
{
	return word[0] == '-' && strcmp(word, "--") != 0;
}

static enum cargo_verb verb_of(const char *name, const char *next)
{
	static const struct {
		const char *name;
		enum cargo_verb verb;
	} verbs[] = {{"run", CARGO_RUN},
		     {"r", CARGO_RUN},
		     {"test", CARGO_TEST},
		     {"t", CARGO_TEST},
		     {"bench", CARGO_BENCH}};

	if (!strcmp(name, "nextest"))
		return next && (!strcmp(next, "run") || !strcmp(next, "r")) ? CARGO_NEXTEST_RUN
									    : CARGO_OTHER;
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(name, verbs[i].name))
			return verbs[i].verb;
	return CARGO_OTHER;
}

/* Parses the words after the toolchain. */
static void cargo_line_parse_rest(char *const *at, struct cargo_line *line)
{
	line->verb = CARGO_OTHER;
	while (at && *at && is_option(*at)) {
		char *const *next = after_option(at);

		for (; at < next; at++)
			string_list_add(&line->globals, *at);
	}
	if (!at || !*at)
		return;
	line->name = xstrdup(*at++);
	line->verb = verb_of(line->name, *at);
	if (line->verb == CARGO_NEXTEST_RUN)
		at++;
	for (; *at; at++)
		string_list_add(&line->rest, *at);
}

void cargo_line_parse(char *const *words, struct cargo_line *ret)
{
	*ret = (struct cargo_line){0};
	if (*words && **words == '+')
		ret->toolchain = *words++;
	cargo_line_parse_rest(words, ret);
}

void cargo_line_deinit(struct cargo_line *line)
{
	string_list_deinit(&line->globals);
	string_list_deinit(&line->rest);
	free(line->name);
	*line = (struct cargo_line){0};
}

/* value: a text, or a list of words. */
static void add_meaning(struct string_list *words, const struct json_value *alias)
{
	struct json_value item = {0};
	CLEANUP(free_ptr) char *text = json_string(alias);

	if (text)
		string_list_split(words, text);
	while (json_next(alias, &item)) {
		char *word = json_string(&item);

		if (word)
			string_list_take(words, word);
	}
}

/* Returns true for cargo's own commands, which cannot be redefined. Their short
 * names are aliases. */
static bool is_built_in(const struct cargo_line *line)
{
	return line->verb != CARGO_OTHER && strlen(line->name) > 1;
}

static bool expand_once(struct cargo_line *line, const struct json_value *aliases)
{
	CLEANUP(string_list_deinit) struct string_list words = {0};
	struct cargo_line before = *line;
	struct json_value alias;

	if (!line->name || is_built_in(line) || !json_find(aliases, line->name, &alias))
		return false;
	string_list_add_all(&words, &before.globals);
	add_meaning(&words, &alias);
	string_list_add_all(&words, &before.rest);
	*line = (struct cargo_line){.toolchain = before.toolchain};
	cargo_line_parse_rest(words.items, line);
	cargo_line_deinit(&before);
	return true;
}

void cargo_line_expand(struct cargo_line *line, const struct json_value *config)
{
	struct json_value aliases;

	if (!json_find(config, "alias", &aliases))
		return;
	for (int i = 0; i < ALIASES_MAX; i++)
		if (!expand_once(line, &aliases))
			return;
}

/* Adds the options that are in `names`, up to the first word that is not an
 * option. */
static void add_options(const struct string_list *from, const char *const *names, bool passes_words,
			struct string_list *to)
{
	char *const *at = from->items;

	while (at && *at && strcmp(*at, "--") != 0) {
		bool is_word = !is_option(*at),
		     takes = !is_word && cargo_line_is_one_of(*at, names);
		char *const *next = is_word ? at + 1 : after_option(at);

		if (is_word && !passes_words)
			return;
		for (; at < next; at++)
			if (takes)
				string_list_add(to, *at);
	}
}

void cargo_line_add_configuration(const struct cargo_line *line, struct string_list *to)
{
	add_options(&line->globals, of_configuration, false, to);
	add_options(&line->rest, of_configuration, line->verb != CARGO_RUN, to);
}

/* nextest's own --profile is not cargo's, which it calls --cargo-profile. */
static void add_nextest_profile(const struct string_list *rest, struct string_list *to)
{
	static const char option[] = "--cargo-profile";

	for (size_t i = 0; i < rest->count && strcmp(rest->items[i], "--") != 0; i++) {
		const char *word = rest->items[i];

		if (!text_begins(word, option))
			continue;
		if (word[strlen(option)] == '=')
			string_list_take(to, xasprintf("--profile%s", word + strlen(option)));
		if (word[strlen(option)] || !rest->items[i + 1])
			continue;
		string_list_add(to, "--profile");
		string_list_add(to, rest->items[i + 1]);
	}
}

bool cargo_line_add_question(const struct cargo_line *line, struct string_list *to)
{
	static const char *const names[] = {[CARGO_RUN] = "run",
					    [CARGO_TEST] = "test",
					    [CARGO_BENCH] = "bench",
					    [CARGO_NEXTEST_RUN] = "test"};

	if (line->verb == CARGO_OTHER)
		return false;
	string_list_add_all(to, &line->globals);
	string_list_add(to, names[line->verb]);
	/* It precedes words that may be the program's. */
	string_list_add(to, "--unit-graph");
	string_list_add(to, "-Zunstable-options");
	if (line->verb == CARGO_NEXTEST_RUN) {
		add_options(&line->rest, of_both, true, to);
		add_nextest_profile(&line->rest, to);
	} else {
		string_list_add_all(to, &line->rest);
	}
	return true;
}
