#include "cmd/cargo/user_runner.h"

#include "base/alloc.h"
#include "base/json_value.h"
#include "base/text.h"
#include "cmd/cargo/captured.h"
#include "cmd/cargo/cfg.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A text that is split at spaces, or a list of words. */
static void add_words(const struct json_value *runner, struct words *ret)
{
	CLEANUP(free_ptr) char *text = json_string(runner);
	struct json_value item = {0};

	if (text)
		words_split(ret, text);
	while (json_next(runner, &item)) {
		char *word = json_string(&item);

		if (word)
			words_take(ret, word);
	}
}

/*
 * A configuration file's path with a slash is relative to the directory that has .cargo: this one
 * or one above it. Cargo does not say which; to be freed, NULL: nowhere.
 */
static char *find_relative(const char *path)
{
	CLEANUP(free_ptr) char *folder = getcwd(NULL, 0);

	while (folder) {
		CLEANUP(free_ptr) char *config = xasprintf("%s/.cargo", folder);
		char *candidate = xasprintf("%s/%s", folder, path);
		char *slash = strrchr(folder, '/');

		if (access(config, F_OK) == 0 && access(candidate, X_OK) == 0)
			return candidate;
		free(candidate);
		if (!slash || !*folder)
			return NULL;
		*slash = '\0';
	}
	return NULL;
}

/* What the compiler sets for a triple; to be freed, empty: unknown. */
static char *options_of(const struct cargo_project *project, const char *triple)
{
	const char *chosen = getenv("RUSTC");
	CLEANUP(words_deinit) struct words words = {0};
	CLEANUP(captured_deinit) struct captured captured = {0};
	struct error *err;

	words_add(&words, chosen && *chosen ? chosen : "rustc");
	if (project->toolchain && !chosen)
		words_add(&words, project->toolchain);
	words_split(&words, "--print cfg --target");
	words_add(&words, triple);
	err = captured_run(words.items, (char *[]){NULL}, NULL, &captured);
	if (!err)
		return STEAL(captured.out);
	error_free(err);
	return xstrdup("");
}

/* The runner of the first table whose name is a predicate that holds: cargo refuses several. */
static bool find_by_predicate(const struct cargo_project *project, const char *triple,
			      const struct json_value *targets, struct json_value *ret)
{
	CLEANUP(free_ptr) char *options = NULL;
	struct json_value target = {0};

	while (json_next(targets, &target)) {
		CLEANUP(free_ptr) char *name = json_name(&target);

		if (!text_begins(name, "cfg(") || !json_find(&target, "runner", ret))
			continue;
		if (!options)
			options = options_of(project, triple);
		if (cargo_cfg_matches(name, options))
			return true;
	}
	return false;
}

static void find_configured(const struct cargo_project *project, const char *triple,
			    struct words *ret)
{
	struct json_value config, targets, target, runner;
	char *found;

	if (!json_parse(project->config, project->config_len, &config) ||
	    !json_find(&config, "target", &targets))
		return;
	if (!(json_find(&targets, triple, &target) && json_find(&target, "runner", &runner)) &&
	    !find_by_predicate(project, triple, &targets, &runner))
		return;
	add_words(&runner, ret);
	if (!ret->count || ret->items[0][0] == '/' || !strchr(ret->items[0], '/'))
		return;
	found = find_relative(ret->items[0]);
	if (!found)
		return;
	free(ret->items[0]);
	ret->items[0] = found;
}

static bool is_same_family(const char *arch, size_t len, const char *host)
{
	if (text_begins(host, "x86_64-"))
		return len == 4 && arch[0] == 'i' && !strncmp(arch + 2, "86", 2);
	return text_begins(host, "aarch64-") && text_begins(arch, "arm");
}

static struct error *check_triple(const char *triple, const char *host)
{
	size_t len = strcspn(triple, "-");

	if (!strstr(triple, "-linux"))
		return error_new("programs for %s do not run on Linux", triple);
	if ((!strncmp(triple, host, len) && host[len] == '-') || is_same_family(triple, len, host))
		return NULL;
	return error_hint(error_new("programs for %s do not run on this processor", triple),
			  "an emulator would be sampled in their place; run prof cargo on a "
			  "machine of that kind");
}

static struct error *check_runner(const struct words *runner, const char *triple,
				  const char *variable)
{
	static const char *const emulators[] = {"qemu-", "valgrind", "wine", "rr",	"gdb",
						"lldb",	 "box64",    "node", "wasmtime"};
	const char *name = runner->count ? basename(runner->items[0]) : "";

	for (size_t i = 0; i < ARRAY_SIZE(emulators); i++) {
		const char *emulator = emulators[i];
		bool is_prefix = emulator[strlen(emulator) - 1] == '-';

		if (is_prefix ? text_begins(name, emulator) : !strcmp(name, emulator))
			return error_hint(error_new("the runner of %s is %s, which does not "
						    "execute the program itself",
						    triple, name),
					  "its own functions would be sampled; with %s= in the "
					  "environment the program runs without it",
					  variable);
	}
	for (size_t i = 0; i < runner->count; i++)
		if (strpbrk(runner->items[i], " \t\n"))
			return error_new(
				"the runner of %s has a space in \"%s\", which prof cannot "
				"pass on",
				triple, runner->items[i]);
	return NULL;
}

struct error *user_runner_find(const struct cargo_project *project, const char *triple,
			       struct words *ret)
{
	CLEANUP(free_ptr) char *variable = cargo_runner_variable(triple);
	const char *value = getenv(variable);
	struct error *err = check_triple(triple, project->host);

	if (err)
		return err;
	if (value)
		words_split(ret, value);
	else
		find_configured(project, triple, ret);
	return check_runner(ret, triple, variable);
}
