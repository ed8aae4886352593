#include "cmd/cargo/each.h"

#include "base/alloc.h"
#include "cmd/command.h"
#include "cmd/record/record.h"
#include "cmd/ui/message.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static const char default_folder[] = "profiles/";

static bool is_folder(const char *path)
{
	struct stat st;

	return path[strlen(path) - 1] == '/' || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

static bool names_each(const char *path)
{
	for (const char *at = path; *at; at++) {
		if (at[0] == '%' && at[1] == 'e')
			return true;
		at += at[0] == '%' && at[1];
	}
	return false;
}

/* Returns the working directory with % doubled, as patterns need it. The caller
 * frees it. */
static char *working_folder(void)
{
	CLEANUP(free_ptr) char *folder = getcwd(NULL, 0);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (const char *at = folder ? folder : "."; *at; at++)
		fprintf(out, *at == '%' ? "%%%%" : "%c", *at);
	fclose(out);
	return text;
}

/* Runners start in the directory of their package, so paths must be absolute. */
static char *absolute(char *path)
{
	CLEANUP(free_ptr) char *relative = path;
	CLEANUP(free_ptr) char *folder = NULL;

	if (path[0] == '/')
		return STEAL(relative);
	folder = working_folder();
	return xasprintf("%s/%s", folder, path);
}

static struct error *each_make_folder(const char *pattern)
{
	const char *slash = strrchr(pattern, '/');
	CLEANUP(free_ptr) char *folder = xstrndup(pattern, (size_t)(slash - pattern));

	if (mkdir(folder, 0777) == 0 || errno == EEXIST)
		return NULL;
	return error_errno(errno, "make the directory %s", folder);
}

static struct error *add_output(const struct output_options *options, const char *path,
				struct string_list *ret)
{
	const struct format *format = options->format ? options->format : &format_pprof;
	char *pattern;

	if (!*path)
		return error_new("-o has an empty name");
	if (is_folder(path))
		pattern = xasprintf("%s%s%%e%s", path, path[strlen(path) - 1] == '/' ? "" : "/",
				    format->extensions[0]);
	else
		pattern = xstrdup(path);
	if (!names_each(pattern)) {
		free(pattern);
		return error_hint(error_new("-o %s names one file for all processes", path),
				  "with --each, name a directory, or a file with %%e in its name "
				  "for the name of the test or benchmark");
	}
	string_list_take(ret, absolute(pattern));
	return each_make_folder(ret->items[ret->count - 1]);
}

struct error *cargo_each_outputs(const struct output_options *options, struct string_list *ret)
{
	const struct option_list *outputs = &options->outputs;
	struct error *err = NULL;

	if (options->opens)
		return error_new("--each and --open exclude each other");
	if (!outputs->count)
		return add_output(options, default_folder, ret);
	for (size_t i = 0; i < outputs->count && !err; i++)
		err = add_output(options, outputs->items[i], ret);
	return err;
}

struct each {
	struct cargo_programs *programs;
	struct recording recording;
};

/* A process can outlive cargo and write its profile then. A signal ends the
 * wait. */
static void on_cargo_end(void *user)
{
	struct each *each = user;
	struct recording *recording = &each->recording;

	signal_guard_begin(recording->signals.guard, SIGNAL_PHASE_WAITING);
	if (recording->end == RECORDING_INTERRUPTED && !recording->quiet &&
	    cargo_programs_running(each->programs))
		message("waiting for %zu programs to end; Ctrl-C stops waiting",
			cargo_programs_running(each->programs));
	while (cargo_programs_running(each->programs) && !atomic_load(&recording->cancel))
		loop_run(recording->loop, LOOP_FOREVER);
	signal_guard_begin(recording->signals.guard, SIGNAL_PHASE_WORKING);
	if (!recording->quiet)
		cargo_programs_say(each->programs);
	cargo_programs_close(each->programs);
}

static struct error *each_start(struct each *each)
{
	struct recording *recording = &each->recording;
	struct error *err = recording_prepare(recording, LAUNCH_OUTPUT);

	if (!err)
		err = cargo_programs_open(each->programs, recording);
	return err ? err : launch_release(&recording->launch, recording->command[0]);
}

static void each_deinit(struct each *each)
{
	cargo_programs_close(each->programs);
	recording_deinit(&each->recording);
}

int cargo_each_run(struct cargo_programs *programs, char *const *command, bool quiet)
{
	CLEANUP(each_deinit)
	struct each each = {
		.programs = programs,
		.recording = {.command = command,
			      .is_of_command = true,
			      .quiet = quiet,
			      .command_ended = on_cargo_end,
			      .user = &each},
	};
	struct recording *recording = &each.recording;
	struct error *err = each_start(&each);

	if (err)
		return message_failure_as(err, recording_failure_status(recording));
	while (recording->end == RECORDING_RUNS)
		loop_run(recording->loop, LOOP_FOREVER);
	cargo_programs_stop(programs);
	recording_stop_command(recording);
	return recording_end_command(recording);
}

/* Stores the outputs and the options of prof's answer. *words: the strings that
 * the options borrow. */
static struct error *each_take_answer(const struct string_list *answer, size_t at,
				      struct string_list *words, struct cargo_options *options)
{
	size_t first = at;
	enum option_group help;
	int rest;
	struct error *err;

	while (at < answer->count && *answer->items[at])
		at++;
	for (size_t i = at + 1; i < answer->count; i++)
		string_list_add(words, answer->items[i]);
	err = options_parse(cargo_option_table, (int)words->count, words->items, options, &rest,
			    &help);
	option_list_deinit(&options->record.output.outputs);
	options->record.output.outputs = (struct option_list){0};
	for (size_t i = first; i < at && !err; i++)
		err = option_append(&options->record.output.outputs, answer->items[i]);
	options->record.output.quiet = true;
	return err;
}

int cargo_each_record(const struct string_list *answer, size_t at, char *const *command,
		      const char *program)
{
	static char name[] = "record";
	CLEANUP(string_list_deinit) struct string_list borrowed = {0};
	CLEANUP(free_ptr) char **words = NULL;
	struct cargo_options options;
	size_t count = 0;
	struct error *err;

	cargo_options_init(&options);
	err = each_take_answer(answer, at, &borrowed, &options);
	if (err)
		return message_failure(error_usage(err));
	while (command[count])
		count++;
	words = xcalloc(count + 1, sizeof(*words));
	words[0] = name;
	memcpy(words + 1, command, count * sizeof(*words));
	return record_run_job(&(struct record_job){
		.options = options.record,
		.words = words,
		.word_count = (int)count + 1,
		.command = command,
		.program = program,
	});
}
