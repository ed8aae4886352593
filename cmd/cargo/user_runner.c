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

/* runner: a text that is split at spaces, or a list of words. */
static void add_words(const struct json_value *runner, struct string_list *ret)
{
	CLEANUP(free_ptr) char *text = json_string(runner);
	struct json_value item = {0};

	if (text)
		string_list_split(ret, text);
	while (json_next(runner, &item)) {
		char *word = json_string(&item);

		if (word)
			string_list_take(ret, word);
	}
}

/*
 * A path with a slash in a configuration file is relative to the directory that
 * has .cargo: the working directory or one above it. Cargo does not report
 * which. Returns NULL if no directory has the path. The caller frees it.
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

/* Returns the options that the compiler sets for a triple, or "" if they are
 * unknown. The caller frees them. */
static char *user_runner_options_of(const struct cargo_project *project, const char *triple)
{
	const char *chosen = getenv("RUSTC");
	CLEANUP(string_list_deinit) struct string_list words = {0};
	CLEANUP(captured_deinit) struct captured captured = {0};
	struct error *err;

	string_list_add(&words, chosen && *chosen ? chosen : "rustc");
	if (project->toolchain && !chosen)
		string_list_add(&words, project->toolchain);
	string_list_split(&words, "--print cfg --target");
	string_list_add(&words, triple);
	err = captured_run(words.items, (char *[]){NULL}, NULL, &captured);
	if (!err)
		return STEAL(captured.out);
	error_free(err);
	return xstrdup("");
}

/* Finds the runner of the first table whose predicate holds. Cargo refuses
 * several. */
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
			options = user_runner_options_of(project, triple);
		if (cargo_cfg_matches(name, options))
			return true;
	}
	return false;
}

static void find_configured(const struct cargo_project *project, const char *triple,
			    struct string_list *ret)
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
		return len == 4 && arch[0] == 'i' && text_begins(arch + 2, "86");
	return text_begins(host, "aarch64-") && text_begins(arch, "arm");
}

static struct error *check_triple(const char *triple, const char *host)
{
	size_t len = strcspn(triple, "-");

	if (!strstr(triple, "-linux"))
		return error_new("programs for %s do not run on Linux", triple);
	if ((!strncmp(triple, host, len) && host[len] == '-') || is_same_family(triple, len, host))
		return NULL;
	return error_hint(
		error_new("programs for %s do not run on this processor", triple),
		"the emulator would be sampled instead; run prof cargo on such a machine");
}

static struct error *check_runner(const struct string_list *runner, const char *triple,
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
					  "the runner itself would be sampled; to run the program "
					  "without it, set %s= in the environment",
					  variable);
	}
	for (size_t i = 0; i < runner->count; i++)
		if (strpbrk(runner->items[i], " \t\n"))
			return error_new("the runner of %s has the argument \"%s\", whose space "
					 "prof cannot pass to cargo",
					 triple, runner->items[i]);
	return NULL;
}

struct error *user_runner_find(const struct cargo_project *project, const char *triple,
			       struct string_list *ret)
{
	CLEANUP(free_ptr) char *variable = cargo_runner_variable(triple);
	const char *value = getenv(variable);
	struct error *err = check_triple(triple, project->host);

	if (err)
		return err;
	if (value)
		string_list_split(ret, value);
	else
		find_configured(project, triple, ret);
	return check_runner(ret, triple, variable);
}
