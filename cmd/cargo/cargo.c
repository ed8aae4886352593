/*
 * prof cargo: runs cargo, and writes a profile of the programs that it starts.
 */
#include "base/alloc.h"
#include "cmd/cargo/each.h"
#include "cmd/cargo/options.h"
#include "cmd/cargo/programs.h"
#include "cmd/cargo/project.h"
#include "cmd/cargo/user_runner.h"
#include "cmd/command.h"
#include "cmd/help.h"
#include "cmd/outputs.h"
#include "cmd/record/record.h"
#include "cmd/ui/message.h"

#include <stdlib.h>
#include <string.h>

struct cargo_run {
	struct cargo_options options;
	char **words; /* prof's command line */
	int word_count;
	struct string_list own_words; /* the options in it, for --each */
	struct string_list command;   /* cargo and its arguments */
	struct string_list outputs;   /* with --each */
	struct cargo_project project;
	struct cargo_programs *programs;
};

static void cargo_run_deinit(struct cargo_run *run)
{
	cargo_options_deinit(&run->options);
	string_list_deinit(&run->own_words);
	string_list_deinit(&run->command);
	string_list_deinit(&run->outputs);
	cargo_project_deinit(&run->project);
	cargo_programs_free(run->programs);
}

/* Returns the path of cargo. For a toolchain given as +NAME, rustup's cargo
 * knows the path. */
static const char *cargo_path(char *const *words)
{
	const char *chosen = getenv("CARGO");

	return chosen && *chosen && words[0][0] != '+' ? chosen : "cargo";
}

/* Called when cargo has built the programs, before the first one starts. */
static void say_settings(const struct cargo_run *run)
{
	const struct string_list *settings = &run->project.settings;
	CLEANUP(free_ptr) char *text = xstrdup("");

	for (size_t i = 0; i < settings->count; i++) {
		char *more = xasprintf("%s%s%s", text, i ? " " : "", settings->items[i]);

		free(text);
		text = more;
	}
	if (*text && !run->options.record.output.quiet)
		message("built with %s, for lines and inlined functions", text);
}

static void on_first(void *user)
{
	say_settings(user);
}

static void cargo_set_environment(struct cargo_run *run)
{
	const struct string_list *settings = &run->project.settings;

	for (size_t i = 0; i < settings->count; i++) {
		size_t len = strcspn(settings->items[i], "=");
		CLEANUP(free_ptr) char *name = xstrndup(settings->items[i], len);

		cargo_programs_set(run->programs, name, settings->items[i] + len + 1);
	}
}

static struct error *set_runners(struct cargo_run *run)
{
	const struct string_list *triples = &run->project.triples;
	struct error *err = NULL;

	for (size_t i = 0; i < triples->count && !err; i++) {
		CLEANUP(string_list_deinit) struct string_list user_runner = {0};

		err = user_runner_find(&run->project, triples->items[i], &user_runner);
		if (!err)
			cargo_programs_run(run->programs, triples->items[i], &user_runner);
	}
	return err;
}

/* Chooses a control channel, for benchmarks that use criterion-with-prof. */
static void choose_control(struct cargo_run *run)
{
	if (!run->project.is_bench || run->options.record.control)
		return;
	run->options.record.control = "auto";
	string_list_add(&run->own_words, "--control=auto");
}

static struct error *cargo_prepare(struct cargo_run *run)
{
	struct error *err = cargo_project_ask(run->command.items[0], run->command.items + 1,
					      &run->project);

	choose_control(run);
	if (!err && run->options.each)
		err = cargo_each_outputs(&run->options.record.output, &run->outputs);
	if (!err)
		err = cargo_programs_new(
			&(struct cargo_programs_options){
				.each = run->options.each,
				.words = &run->own_words,
				.outputs = &run->outputs,
				.on_first = on_first,
				.user = run,
			},
			&run->programs);
	if (!err)
		err = set_runners(run);
	if (!err)
		cargo_set_environment(run);
	return err;
}

static struct error *open_programs(void *user, struct recording *recording)
{
	return cargo_programs_open(user, recording);
}

static bool cargo_has_programs(const void *user)
{
	return cargo_programs_count(user);
}

static void cargo_say_programs(const void *user)
{
	cargo_programs_say(user);
}

static void stop_programs(void *user)
{
	cargo_programs_stop(user);
}

static void cargo_close_programs(void *user)
{
	cargo_programs_close(user);
}

static int record_all(struct cargo_run *run)
{
	const struct record_programs programs = {
		.open = open_programs,
		.any = cargo_has_programs,
		.say = cargo_say_programs,
		.stop = stop_programs,
		.close = cargo_close_programs,
		.user = run->programs,
	};
	struct record_job job = {
		.options = run->options.record,
		.words = run->words,
		.word_count = run->word_count,
		.command = run->command.items,
		.programs = &programs,
	};

	run->options.record = (struct record_options){0};
	job.options.output.keeps_stdout = true;
	return record_run_job(&job);
}

static int run_cargo(struct cargo_run *run)
{
	bool quiet = run->options.record.output.quiet;
	struct error *err = cargo_prepare(run);
	int status;

	if (err)
		return message_failure_as(err, error_number(err) ? STATUS_NOT_FOUND : STATUS_USAGE);
	status = run->options.each ? cargo_each_run(run->programs, run->command.items, quiet)
				   : record_all(run);
	if (status == STATUS_OK && !cargo_programs_count(run->programs) && !quiet)
		message("cargo started no program: nothing was recorded");
	return status;
}

static void cargo_take_words(struct cargo_run *run, int argc, char **argv, int rest)
{
	run->words = argv;
	run->word_count = argc;
	for (int i = 0; i < rest; i++)
		string_list_add(&run->own_words, argv[i]);
	string_list_add(&run->command, cargo_path(argv + rest));
	if (argv[rest][0] == '+')
		string_list_add(&run->command, argv[rest++]);
	string_list_add_all(&run->command, &run->options.globals);
	for (int i = rest; i < argc; i++)
		string_list_add(&run->command, argv[i]);
}

static int cargo_run(int argc, char **argv)
{
	CLEANUP(cargo_run_deinit) struct cargo_run run = {0};
	enum option_group help = GROUP_NONE;
	int rest = argc;
	struct error *err;

	cargo_options_init(&run.options);
	err = options_parse(cargo_option_table, argc, argv, &run.options, &rest, &help);
	if (err)
		return message_failure(error_usage(err));
	if (help || rest == argc)
		return help_print(&command_cargo, help ? help : GROUP_COMMON);
	cargo_take_words(&run, argc, argv, rest);
	return run_cargo(&run);
}

const struct command command_cargo = {
	.name = "cargo",
	.summary = "run, test or benchmark a Rust project, and profile its programs",
	.usage = "[options] [+TOOLCHAIN] run|test|bench [ARGUMENTS]\n"
		 "[options] nextest run [ARGUMENTS]",
	.description =
		"Runs cargo and records a profile of the programs, tests and benchmarks that "
		"it starts, without the compiler.",
	.examples = "prof cargo run --release -- input.txt\n"
		    "prof cargo -F 999 -o bench.html bench --bench parser\n"
		    "prof cargo --each -o base/ bench              # a profile per benchmark\n"
		    "prof cargo --wall nextest run slow_test",
	.options = cargo_option_table,
	.operands = OPERANDS_COMMAND,
	.first_words = "run test bench nextest",
	.takes_records = true,
	.writes_profiles = true,
	.documented_by = &command_record,
	.run = cargo_run,
};
