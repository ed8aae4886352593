#include "cmd/cargo/project.h"

#include "base/alloc.h"
#include "base/json_value.h"
#include "base/text.h"
#include "cmd/cargo/captured.h"
#include "cmd/cargo/line.h"
#include "cmd/ui/message.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Lines, inlined functions and the names of their scopes, without types and
 * variables. With line tables alone, inlined functions of all types would be
 * called "new" and "{closure#0}".
 */
#define DEBUG_LEVEL "1"

/* How to run cargo. */
struct question {
	const char *cargo;
	const struct cargo_line *line;
	bool is_unstable;
};

static struct error *project_ask(const struct question *question, const struct string_list *words,
				 void (*on_line)(const char *line), struct captured *ret)
{
	/* `cargo run` panics after its answer. */
	static char bootstrap[] = "RUSTC_BOOTSTRAP=1", no_cache[] = "CARGO_CACHE_RUSTC_INFO=0";
	static char no_backtrace[] = "RUST_BACKTRACE=0";
	char *const unstable[] = {bootstrap, no_cache, no_backtrace, NULL};
	char *const stable[] = {NULL};
	CLEANUP(string_list_deinit) struct string_list all = {0};

	string_list_add(&all, question->cargo);
	if (question->line->toolchain)
		string_list_add(&all, question->line->toolchain);
	string_list_add_all(&all, words);
	return captured_run(all.items, question->is_unstable ? unstable : stable, on_line, ret);
}

void cargo_project_deinit(struct cargo_project *project)
{
	free(project->host);
	free(project->config);
	string_list_deinit(&project->triples);
	string_list_deinit(&project->settings);
	*project = (struct cargo_project){0};
}

/* Returns the value of a line of `cargo -vV`, or NULL if there is none. The
 * caller frees it. */
static char *project_value_of(const char *text, const char *name)
{
	const char *line = strstr(text, name);

	return line ? xstrndup(line + strlen(name), strcspn(line + strlen(name), "\n")) : NULL;
}

static struct error *ask_host(const struct question *question, struct cargo_project *project)
{
	CLEANUP(string_list_deinit) struct string_list words = {0};
	CLEANUP(captured_deinit) struct captured captured = {0};
	struct error *err;

	string_list_add(&words, "-vV");
	err = project_ask(question, &words, NULL, &captured);
	if (err)
		return error_hint(err, "install Rust (https://rustup.rs), or set CARGO to the path "
				       "of cargo");
	project->host = project_value_of(captured.out, "\nhost: ");
	return NULL;
}

static bool parse_config(const struct cargo_project *project, struct json_value *ret)
{
	return json_parse(project->config, project->config_len, ret);
}

static struct error *ask_config(const struct question *question, struct cargo_project *project)
{
	CLEANUP(string_list_deinit) struct string_list words = {0};
	CLEANUP(captured_deinit) struct captured captured = {0};
	struct error *err;

	string_list_add(&words, "-Zunstable-options");
	cargo_line_add_configuration(question->line, &words);
	string_list_add(&words, "config");
	string_list_add(&words, "get");
	string_list_add(&words, "--format=json");
	err = project_ask(question, &words, NULL, &captured);
	if (err)
		return err;
	project->config = STEAL(captured.out);
	project->config_len = captured.out_len;
	return NULL;
}

/* Returns true for a line of cargo's progress: "   Updating crates.io index". */
static bool is_status(const char *line)
{
	enum { WORD_COLUMNS = 12 };
	size_t spaces = strspn(line, " ");

	return spaces && spaces < WORD_COLUMNS && isupper((unsigned char)line[spaces]) &&
	       strcspn(line + spaces, " ") == WORD_COLUMNS - spaces;
}

/* Shows downloads when they happen, because cargo will not repeat them later. */
static void show_status(const char *line)
{
	if (is_status(line))
		message_row("%s", line);
}

/* Returns true if cargo needs the network or a lock file for an answer. */
static bool needs_more(const struct captured *captured)
{
	return strstr(captured->errors, "--frozen") || strstr(captured->errors, "--offline") ||
	       strstr(captured->errors, "--locked");
}

/*
 * `cargo run` prints its units and then fails because there is no program, so
 * its status means nothing. The first try runs without the network, which
 * changes nothing on disk.
 */
static struct error *ask_units(const struct question *question, struct captured *ret,
			       struct json_value *units)
{
	CLEANUP(string_list_deinit) struct string_list words = {0}, frozen = {0};
	struct captured captured = {0};
	struct json_value root;
	struct error *err;
	bool is_frozen = true;

	*units = (struct json_value){0};
	if (!cargo_line_add_question(question->line, &words))
		return NULL;
	string_list_add(&frozen, "--frozen");
	string_list_add_all(&frozen, &words);
	err = project_ask(question, &frozen, NULL, &captured);
	while (!err && !json_parse(captured.out, captured.out_len, &root)) {
		bool is_worth_it = is_frozen && needs_more(&captured);

		captured_deinit(&captured);
		if (!is_worth_it)
			return NULL;
		is_frozen = false;
		err = project_ask(question, &words, show_status, &captured);
	}
	if (err)
		return err;
	*ret = captured;
	*units = root;
	return NULL;
}

/* Converts the name of a build profile or a triple as cargo does for the names
 * of variables. */
static char *to_variable(char *name)
{
	for (char *at = name; *at; at++) {
		if (*at == '-' || *at == '.')
			*at = '_';
		else if (islower((unsigned char)*at))
			*at = (char)toupper((unsigned char)*at);
	}
	return name;
}

/* Returns "CARGO_PROFILE_RELEASE_DEBUG" for "release". The caller frees it. */
static char *profile_variable(const char *profile, const char *key)
{
	return to_variable(xasprintf("CARGO_PROFILE_%s_%s", profile, key));
}

/* The user's own setting takes precedence. */
static void project_set(struct cargo_project *project, const char *profile, const char *key,
			const char *value)
{
	CLEANUP(free_ptr) char *name = profile_variable(profile, key);
	CLEANUP(free_ptr) char *setting = xasprintf("%s=%s", name, value);

	if (!getenv(name) && !string_list_have(&project->settings, setting))
		string_list_add(&project->settings, setting);
}

static bool project_has_lines(const struct json_value *profile)
{
	struct json_value debuginfo;
	uint64_t level = 0;

	if (!json_find(profile, "debuginfo", &debuginfo))
		return true; /* nothing is known */
	return json_integer(&debuginfo, &level)
		       ? level > 0
		       : json_kind(&debuginfo) == JSON_STRING && !json_is(&debuginfo, "none") &&
				 !json_is(&debuginfo, "line-directives-only");
}

/* "strip": "symbols", or {"resolved": {"Named": "symbols"}} */
static bool is_stripped(const struct json_value *profile)
{
	struct json_value strip;

	if (!json_find(profile, "strip", &strip))
		return false;
	if (json_find(&strip, "resolved", &strip))
		json_find(&strip, "Named", &strip);
	return json_is(&strip, "symbols") || json_is(&strip, "debuginfo");
}

static void learn_profile(struct cargo_project *project, const struct json_value *profile)
{
	struct json_value value;
	CLEANUP(free_ptr) char *name = NULL;

	if (!json_find(profile, "name", &value) || !(name = json_string(&value)))
		return;
	if (!project_has_lines(profile))
		project_set(project, name, "DEBUG", DEBUG_LEVEL);
	if (is_stripped(profile))
		project_set(project, name, "STRIP", "none");
}

static bool project_is_xtask(const struct json_value *unit)
{
	struct json_value target, name;

	return json_find(unit, "target", &target) && json_find(&target, "name", &name) &&
	       json_is(&name, CARGO_XTASK);
}

static void learn_unit(struct cargo_project *project, const struct json_value *unit)
{
	struct json_value value;
	CLEANUP(free_ptr) char *triple = NULL;

	/* null: the triple of the machine itself */
	if (json_find(unit, "platform", &value))
		triple = json_string(&value);
	if (!triple)
		triple = xstrdup(project->host);
	if (!string_list_have(&project->triples, triple))
		string_list_add(&project->triples, triple);
	if (json_find(unit, "profile", &value))
		learn_profile(project, &value);
	/* The build profile of the xtask's own cargo is not known yet; it is
	 * probably release. */
	if (project_is_xtask(unit)) {
		project_set(project, "release", "DEBUG", DEBUG_LEVEL);
		project_set(project, "release", "STRIP", "none");
	}
}

/* The roots are the programs that will run. They are indices into the array of
 * units. */
static void learn_units(struct cargo_project *project, const struct json_value *graph)
{
	struct json_value units, roots, unit = {0}, root = {0};
	uint64_t number = 0, wanted;

	if (!json_find(graph, "units", &units) || !json_find(graph, "roots", &roots))
		return;
	while (json_next(&roots, &root)) {
		if (!json_integer(&root, &wanted))
			return;
		if (!unit.at || wanted < number) {
			unit = (struct json_value){0};
			number = 0;
			if (!json_next(&units, &unit))
				return;
		}
		for (; number < wanted; number++)
			if (!json_next(&units, &unit))
				return;
		learn_unit(project, &unit);
	}
}

static struct error *ask_all(const char *cargo, struct cargo_line *line,
			     struct cargo_project *project)
{
	struct question question = {.cargo = cargo, .line = line};
	CLEANUP(captured_deinit) struct captured captured = {0};
	struct json_value config, units = {0};
	struct error *err = ask_host(&question, project);

	if (err || !project->host)
		return err;
	question.is_unstable = true;
	err = ask_config(&question, project);
	if (!err && parse_config(project, &config))
		cargo_line_expand(line, &config);
	project->is_bench = line->verb == CARGO_BENCH;
	if (!err)
		err = ask_units(&question, &captured, &units);
	if (!err && units.at)
		learn_units(project, &units);
	if (!project->triples.count)
		string_list_add(&project->triples, project->host);
	return err;
}

struct error *cargo_project_ask(const char *cargo, char *const *words, struct cargo_project *ret)
{
	CLEANUP(cargo_line_deinit) struct cargo_line line;
	struct cargo_project project = {0};
	struct error *err;

	cargo_line_parse(words, &line);
	project.toolchain = line.toolchain;
	err = ask_all(cargo, &line, &project);
	if (err)
		cargo_project_deinit(&project);
	else
		*ret = project;
	return err;
}

char *cargo_runner_variable(const char *triple)
{
	return to_variable(xasprintf("CARGO_TARGET_%s_RUNNER", triple));
}
