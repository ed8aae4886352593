/*
 * prof diff: compares recordings and says what has become slower, beyond chance.
 */
#include "cmd/command.h"
#include "cmd/diff_directories.h"
#include "cmd/diff_options.h"
#include "cmd/diff_recordings.h"
#include "cmd/selection.h"
#include "cmd/ui/message.h"
#include "profile/tasks.h"

#include <string.h>
#include <sys/stat.h>

enum { DEFAULT_ROWS = 20 };

struct request {
	struct diff_command_options options;
	struct option_list old, new; /* names of files, or of directories */
};

static struct error *take_normalize(void *field, const char *argument)
{
	static const struct option_choice choices[] = {{"time", NORMALIZE_TIME},
						       {"share", NORMALIZE_SHARE},
						       {"samples", NORMALIZE_SAMPLES},
						       {"iteration", NORMALIZE_ITERATION},
						       {0}};

	return option_choice("normalization", choices, argument, field);
}

static struct error *take_percent(double *field, const char *argument, double least, double below)
{
	char *end;
	double value = strtod(argument, &end);

	if (end == argument || strcmp(*end == '%' ? end + 1 : end, "") != 0 ||
	    !(value >= least && value < below))
		return error_new("\"%s\" is not a percentage from %g to below %g", argument, least,
				 below);
	*field = value / 100;
	return NULL;
}

static struct error *take_confidence(void *field, const char *argument)
{
	return take_percent(field, argument, 50, 100);
}

static struct error *take_noise(void *field, const char *argument)
{
	return take_percent(field, argument, 0, 1000);
}

static struct error *take_by(void *field, const char *argument)
{
	static const struct option_choice choices[] = {
		{"function", 0}, {"task", 1}, {"label:KEY", 1}, {0}};
	static const char label[] = "label:";
	int choice;

	if (!strncmp(argument, label, strlen(label)) && argument[strlen(label)]) {
		*(const char **)field = argument + strlen(label);
		return NULL;
	}
	*(const char **)field = strcmp(argument, TASK_LABEL) ? NULL : TASK_LABEL;
	return option_choice("table", choices, argument, &choice);
}

#define FIELD(name) offsetof(struct diff_command_options, name)

static const struct option_entry table[] = {
	OPTION_ENTRY(
		0, "normalize", "time|samples|share|iteration",
		"compare by time: weight per recording, for runs of the same work; samples: "
		"samples per recording; share: shares of each side, for services that keep "
		"running; iteration: the time per iteration that criterion measured (default time "
		"if all files are recordings of a whole command, else iteration if known, else "
		"share)",
		take_normalize, FIELD(normalize)),
	OPTION_ENTRY('e', "event", "NAME",
		     "compare this event (default: the first one that all files have)",
		     option_string, FIELD(event)),
	OPTION_ENTRY(0, "label", "KEY[=GLOB]", SELECTION_LABEL_HELP, option_append, FIELD(labels)),
	OPTION_ENTRY(0, "old-label", "KEY[=GLOB]",
		     "the same of OLD alone, to compare two values of a label, such as versions",
		     option_append, FIELD(old_labels)),
	OPTION_ENTRY(0, "new-label", "KEY[=GLOB]", "the same of NEW alone", option_append,
		     FIELD(new_labels)),
	OPTION_ENTRY(0, "by", "WHAT",
		     "show a row per function (default), task, or label:KEY: value of a label",
		     take_by, FIELD(by_label)),
	NAMES_ENTRY(struct diff_command_options, names, NAMES_OF_TABLES " and in files"),
	OPTION_ENTRY(0, "confidence", "PERCENT",
		     "call a change significant at this confidence (default 99)", take_confidence,
		     FIELD(confidence)),
	OPTION_ENTRY(0, "noise", "PERCENT",
		     "guess that two runs of one program differ by this much if a side has one "
		     "recording (default 2)",
		     take_noise, FIELD(noise)),
	OPTION_ENTRY(0, "fail-if", "CONDITION",
		     "exit 1 if the change is significant and larger, 2 if that cannot be judged: "
		     "'slower>5%' of the whole, 'FUNCTION>2%' of a function, in percent of the "
		     "whole; repeatable; needs two recordings per side",
		     fail_condition_append, FIELD(conditions)),
	OPTION_ENTRY('o', "output", "FILE",
		     "also write a graph of the difference; the extension selects the format",
		     option_append, FIELD(outputs)),
	OPTION_ENTRY(0, "json", NULL, "print JSON; prof-diff(1) describes the schema", option_true,
		     FIELD(json)),
	OPTION_ENTRY(0, "markdown", NULL, "print a summary in Markdown, for a pull request",
		     option_true, FIELD(markdown)),
	INPUT_LOGICAL_ENTRY(struct diff_command_options, input),
	OPTION_ENTRY('n', "limit", "N", "show at most N functions and N stacks (default 20)",
		     option_count, FIELD(rows)),
	OPTION_ENTRY('q', "quiet", NULL, "print only errors", option_true, FIELD(quiet)),
	PAGER_ENTRIES(struct diff_command_options, pager),
	INPUT_ENTRIES(struct diff_command_options, input),
	{0},
};

static void request_deinit(struct request *request)
{
	option_list_deinit(&request->old);
	option_list_deinit(&request->new);
	option_list_deinit(&request->options.outputs);
	option_list_deinit(&request->options.labels);
	option_list_deinit(&request->options.old_labels);
	option_list_deinit(&request->options.new_labels);
	fail_conditions_deinit(&request->options.conditions);
}

static int print_help(void)
{
	printf("Usage: prof diff [options] OLD NEW\n"
	       "       prof diff [options] OLD OLD2 ... -- NEW NEW2 ...\n"
	       "       prof diff [options] OLD_DIRECTORY NEW_DIRECTORY\n"
	       "       prof diff [options] DIRECTORY@RANGE DIRECTORY@RANGE\n\n"
	       "Says whether NEW costs more than OLD, which functions and stacks do, and whether "
	       "the changes\nare significant. Files are pprof, folded stacks, the text of perf "
	       "script, heap files or\nperf.data. Changes are judged if both sides have several "
	       "recordings, which show how\nmuch runs differ anyway. Of two directories, "
	       "profiles of the same name are compared:\na row per benchmark, for CI. Of a "
	       "directory that prof record "
	       "--every writes, ranges\nof time are compared: DIR@yesterday DIR@today, "
	       "DIR@14:05..14:07 DIR@15:05..15:07.\n\n");
	options_help(table, stdout);
	return STATUS_OK;
}

/* Options may be before, between and after the files. */
static struct error *parse(struct request *request, int argc, char **argv,
			   struct option_list *files, bool *help)
{
	int rest = 0;

	for (; argc > 0; argc -= rest, argv += rest) {
		struct error *err = options_parse(table, argc, argv, &request->options, &rest,
						  help);

		if (err || *help || rest >= argc)
			return err;
		err = option_append(files, argv[rest]);
		if (err)
			return err;
	}
	return NULL;
}

static int separator(int argc, char **argv)
{
	int at = 1;

	while (at < argc && strcmp(argv[at], "--") != 0)
		at++;
	return at;
}

/* Without "--" there are two files. */
static struct error *part_sides(struct request *request, bool is_parted)
{
	struct error *err = NULL;

	if (!is_parted && request->old.count == 2) {
		err = option_append(&request->new, request->old.items[1]);
		free(request->old.items[--request->old.count]);
	}
	if (!err && (!request->old.count || !request->new.count))
		err = error_hint(error_new(is_parted ? "one side has no files"
						     : "expected two files, got %zu",
					   request->old.count),
				 "prof diff OLD NEW, or prof diff OLD OLD2 -- NEW NEW2");
	return err;
}

static size_t count_directories(const struct option_list *names)
{
	struct stat status;
	size_t count = 0;

	for (size_t i = 0; i < names->count; i++)
		count += !stat(names->items[i], &status) && S_ISDIR(status.st_mode);
	return count;
}

static struct error *find_kind(const struct request *request, bool *has_directories)
{
	size_t count = count_directories(&request->old) + count_directories(&request->new);

	if (count && count != request->old.count + request->new.count)
		return error_hint(error_new("cannot compare directories with files"),
				  "compare two directories, or two files");
	*has_directories = count > 0;
	return NULL;
}

static int run(const struct request *request)
{
	bool has_directories = false;
	struct error *err = find_kind(request, &has_directories);

	if (err)
		return message_failure(err, STATUS_TROUBLE);
	return (has_directories ? diff_directories : diff_recordings)(&request->options,
								      &request->old, &request->new);
}

static int diff_run(int argc, char **argv)
{
	CLEANUP(request_deinit)
	struct request request = {
		.options = {.rows = DEFAULT_ROWS, .confidence = 0.99, .noise = 0.02}};
	int middle = separator(argc, argv);
	bool help = false;
	struct error *err = parse(&request, middle, argv, &request.old, &help);

	if (!err && !help && middle < argc)
		err = parse(&request, argc - middle, argv + middle, &request.new, &help);
	if (!err && help)
		return print_help();
	if (!err)
		err = part_sides(&request, middle < argc);
	if (!err && request.options.json && request.options.markdown)
		err = error_new("--json and --markdown exclude each other");
	if (err)
		return message_failure(err, STATUS_TROUBLE);
	return run(&request);
}

const struct command command_diff = {
	.name = "diff",
	.summary = "compare recordings: what has become slower, beyond chance",
	.options = table,
	.run = diff_run,
};
