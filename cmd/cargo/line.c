#include "cmd/cargo/line.h"

#include "base/alloc.h"
#include "base/text.h"

#include <string.h>

/* Aliases in aliases, at most. */
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

/* Those that choose the configuration. */
static const char *const of_configuration[] = {"-C", "-Z", "--config", NULL};

/* Options of `cargo nextest run` that `cargo test` has too. */
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

/* The length of an option's name in a word such as --config=x or -Cdir. */
static size_t name_len(const char *word)
{
	if (word[0] == '-' && word[1] && word[1] != '-')
		return 2;
	return strcspn(word, "=");
}

static bool is_one_of(const char *word, const char *const *names)
{
	size_t len = name_len(word);

	for (; *names; names++)
		if (strlen(*names) == len && !strncmp(*names, word, len))
			return true;
	return false;
}

static bool takes_next(const char *word)
{
	return is_one_of(word, with_argument) && !word[name_len(word)];
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

/* After the toolchain. */
static void parse_rest(char *const *at, struct cargo_line *line)
{
	line->verb = CARGO_OTHER;
	while (at && *at && is_option(*at)) {
		char *const *next = after_option(at);

		for (; at < next; at++)
			words_add(&line->globals, *at);
	}
	if (!at || !*at)
		return;
	line->name = xstrdup(*at++);
	line->verb = verb_of(line->name, *at);
	if (line->verb == CARGO_NEXTEST_RUN)
		at++;
	for (; *at; at++)
		words_add(&line->rest, *at);
}

void cargo_line_parse(char *const *words, struct cargo_line *ret)
{
	*ret = (struct cargo_line){0};
	if (*words && **words == '+')
		ret->toolchain = *words++;
	parse_rest(words, ret);
}

void cargo_line_deinit(struct cargo_line *line)
{
	words_deinit(&line->globals);
	words_deinit(&line->rest);
	free(line->name);
	*line = (struct cargo_line){0};
}

/* A text or a list of words. */
static void add_meaning(struct words *words, const struct json_value *alias)
{
	struct json_value item = {0};
	CLEANUP(free_ptr) char *text = json_string(alias);

	if (text)
		words_split(words, text);
	while (json_next(alias, &item)) {
		char *word = json_string(&item);

		if (word)
			words_take(words, word);
	}
}

/* Cargo's own commands cannot be redefined, but their short names are aliases. */
static bool is_built_in(const struct cargo_line *line)
{
	return line->verb != CARGO_OTHER && strlen(line->name) > 1;
}

static bool expand_once(struct cargo_line *line, const struct json_value *aliases)
{
	CLEANUP(words_deinit) struct words words = {0};
	struct cargo_line before = *line;
	struct json_value alias;

	if (!line->name || is_built_in(line) || !json_find(aliases, line->name, &alias))
		return false;
	words_add_all(&words, &before.globals);
	add_meaning(&words, &alias);
	words_add_all(&words, &before.rest);
	*line = (struct cargo_line){.toolchain = before.toolchain};
	parse_rest(words.items, line);
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

/* Adds those options that are among `names`, up to the first word that is not an option. */
static void add_options(const struct words *from, const char *const *names, bool passes_words,
			struct words *to)
{
	char *const *at = from->items;

	while (at && *at && strcmp(*at, "--") != 0) {
		bool is_word = !is_option(*at), takes = !is_word && is_one_of(*at, names);
		char *const *next = is_word ? at + 1 : after_option(at);

		if (is_word && !passes_words)
			return;
		for (; at < next; at++)
			if (takes)
				words_add(to, *at);
	}
}

void cargo_line_add_configuration(const struct cargo_line *line, struct words *to)
{
	add_options(&line->globals, of_configuration, false, to);
	add_options(&line->rest, of_configuration, line->verb != CARGO_RUN, to);
}

/* nextest has a --profile of its own. */
static void add_nextest_profile(const struct words *rest, struct words *to)
{
	static const char option[] = "--cargo-profile";

	for (size_t i = 0; i < rest->count && strcmp(rest->items[i], "--") != 0; i++) {
		const char *word = rest->items[i];

		if (!text_begins(word, option))
			continue;
		if (word[strlen(option)] == '=')
			words_take(to, xasprintf("--profile%s", word + strlen(option)));
		if (word[strlen(option)] || !rest->items[i + 1])
			continue;
		words_add(to, "--profile");
		words_add(to, rest->items[i + 1]);
	}
}

bool cargo_line_add_question(const struct cargo_line *line, struct words *to)
{
	static const char *const names[] = {[CARGO_RUN] = "run",
					    [CARGO_TEST] = "test",
					    [CARGO_BENCH] = "bench",
					    [CARGO_NEXTEST_RUN] = "test"};

	if (line->verb == CARGO_OTHER)
		return false;
	words_add_all(to, &line->globals);
	words_add(to, names[line->verb]);
	/* Before words that may be the program's. */
	words_add(to, "--unit-graph");
	words_add(to, "-Zunstable-options");
	if (line->verb == CARGO_NEXTEST_RUN) {
		add_options(&line->rest, of_both, true, to);
		add_nextest_profile(&line->rest, to);
	} else {
		words_add_all(to, &line->rest);
	}
	return true;
}
