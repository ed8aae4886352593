/*
 * prof diff: compares profiles and reports significant changes.
 */
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/diff/diff_directories.h"
#include "cmd/diff/diff_options.h"
#include "cmd/diff/diff_recordings.h"
#include "cmd/help.h"
#include "cmd/options/selection.h"
#include "cmd/ui/message.h"
#include "profile/tasks.h"

#include <string.h>
#include <sys/stat.h>

enum { DIFF_DEFAULT_ROWS = 20 };

struct diff_request {
	struct diff_command_options options;
	struct option_list old, new; /* file or directory names */
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

static struct error *diff_take_by(void *field, const char *argument)
{
	static const struct option_choice choices[] = {
		{"function", 0}, {TASK_LABEL, 1}, {"label:KEY", 1}, {0}};
	static const char label[] = "label:";
	int choice;

	if (text_begins(argument, label) && argument[strlen(label)]) {
		*(const char **)field = argument + strlen(label);
		return NULL;
	}
	*(const char **)field = strcmp(argument, TASK_LABEL) ? NULL : TASK_LABEL;
	return option_choice("table", choices, argument, &choice);
}

#define FIELD(name) offsetof(struct diff_command_options, name)

static const struct option_entry diff_option_table[] = {
	OPTION_COMMON(SELECTION, 'e', "event", "NAME",
		      "compare this event; default: the first one that all files have",
		      option_string, FIELD(event)),
	SELECTION_LABEL_ENTRY(struct diff_command_options, "label", "compare only samples", labels),
	SELECTION_LABEL_ENTRY(struct diff_command_options, "old-label", "keep only samples of OLD",
			      old_labels),
	SELECTION_LABEL_ENTRY(struct diff_command_options, "new-label", "keep only samples of NEW",
			      new_labels),
	LOGICAL_ENTRY(struct diff_command_options, input.logical, LOGICAL_OF_FILES),
	OPTION_COMMON(
		VIEW, 0, "by", "WHAT",
		"choose what a row is (default function); function, task, or label:KEY for the "
		"values of a label",
		diff_take_by, FIELD(by_label)),
	OPTION_COMMON(VIEW, 'n', "limit", "N", "show at most N functions and N stacks (default 20)",
		      option_count, FIELD(rows)),
	OPTION_COMMON(
		STATISTICS, 0, "normalize", "time|samples|share|iteration",
		"choose what is compared; time: weight per recording, for runs of the same work. "
		"samples: samples per recording. share: share of each side, for services that "
		"keep running. iteration: the time per iteration that criterion measured. Default "
		"time if all files are recordings of a whole command, else iteration if known, "
		"else share",
		take_normalize, FIELD(normalize)),
	OPTION_COMMON(STATISTICS, 0, "confidence", "PERCENT",
		      "set the confidence level (default 99)", take_confidence, FIELD(confidence)),
	OPTION_ENTRY(STATISTICS, 0, "noise", "PERCENT",
		     "assume this difference between runs (default 2); if a side has one recording",
		     take_noise, FIELD(noise)),
	OPTION_COMMON(STATISTICS, 0, "fail-if", "CONDITION",
		      "fail if a change exceeds this, such as 'slower>5%'; exit with status 1 if "
		      "the change is significant, with 2 if that cannot be judged. 'FUNCTION>2%' "
		      "is the change of a function in percent of the whole. Repeatable. Needs two "
		      "recordings per side",
		      fail_condition_append, FIELD(conditions)),
	OPTION_COMMON(
		OUTPUT, 'o', "output", "FILE",
		"also write a differential flame graph to FILE; the extension selects the format",
		option_append, FIELD(outputs)),
	OPTION_COMMON(OUTPUT, 0, "json", NULL, "print JSON; prof-diff(1) describes the schema",
		      option_true, FIELD(json)),
	OPTION_COMMON(OUTPUT, 0, "markdown", NULL,
		      "print a summary in Markdown, for a pull request", option_true,
		      FIELD(markdown)),
	QUIET_ENTRY(struct diff_command_options, quiet),
	PAGER_ENTRIES(struct diff_command_options, pager),
	NAMES_ENTRY(struct diff_command_options, names, NAMES_OF_TABLES " and in files"),
	INPUT_ENTRIES(struct diff_command_options, input),
	{0},
};
#undef FIELD

static void request_deinit(struct diff_request *request)
{
	option_list_deinit(&request->old);
	option_list_deinit(&request->new);
	option_list_deinit(&request->options.outputs);
	option_list_deinit(&request->options.labels);
	option_list_deinit(&request->options.old_labels);
	option_list_deinit(&request->options.new_labels);
	fail_conditions_deinit(&request->options.conditions);
}

/* Options may be before, between and after the files. */
static struct error *diff_parse(struct diff_request *request, int argc, char **argv,
				struct option_list *files, enum option_group *help)
{
	int rest = 0;

	for (; argc > 0; argc -= rest, argv += rest) {
		struct error *err = options_parse(diff_option_table, argc, argv, &request->options,
						  &rest, help);

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
static struct error *part_sides(struct diff_request *request, bool is_parted)
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

static struct error *diff_find_kind(const struct diff_request *request, bool *has_directories)
{
	size_t count = count_directories(&request->old) + count_directories(&request->new);

	if (count && count != request->old.count + request->new.count)
		return error_hint(error_new("cannot compare directories with files"),
				  "compare two directories, or two files");
	*has_directories = count > 0;
	return NULL;
}

static int diff_compare_request(const struct diff_request *request)
{
	bool has_directories = false;
	struct error *err = diff_find_kind(request, &has_directories);

	if (err)
		return message_failure_as(err, STATUS_TROUBLE);
	return (has_directories ? diff_directories : diff_recordings)(&request->options,
								      &request->old, &request->new);
}

static int diff_run(int argc, char **argv)
{
	CLEANUP(request_deinit)
	struct diff_request request = {
		.options = {.rows = DIFF_DEFAULT_ROWS, .confidence = 0.99, .noise = 0.02}};
	int middle = separator(argc, argv);
	enum option_group help = GROUP_NONE;
	struct error *err = diff_parse(&request, middle, argv, &request.old, &help);

	if (!err && !help && middle < argc)
		err = diff_parse(&request, argc - middle, argv + middle, &request.new, &help);
	if (!err && help)
		return help_print(&command_diff, help);
	if (!err)
		err = part_sides(&request, middle < argc);
	if (!err && request.options.json && request.options.markdown)
		err = error_new("--json and --markdown exclude each other");
	if (err)
		return message_failure_as(err, STATUS_TROUBLE);
	return diff_compare_request(&request);
}

const struct command command_diff = {
	.name = "diff",
	.summary = "compare profiles and report significant changes",
	.usage = "[options] OLD NEW\n"
		 "[options] OLD OLD2 ... -- NEW NEW2 ...\n"
		 "[options] OLD_DIRECTORY NEW_DIRECTORY\n"
		 "[options] DIRECTORY@RANGE DIRECTORY@RANGE",
	.description =
		"Reports whether NEW costs more than OLD, which functions and stacks changed, "
		"and whether the changes are significant. This needs several recordings per "
		"side, which show how much runs differ. Files are pprof, folded stacks, perf "
		"script text, heap files or perf.data. Directories are compared by file name, "
		"a row per benchmark. A RANGE selects a time of a directory of prof record "
		"--every, such as DIR@yesterday or DIR@14:05..14:07.",
	.examples = "prof diff old.pb.gz new.pb.gz\n"
		    "prof diff --fail-if 'slower>5%' old.*.pb.gz -- new.*.pb.gz\n"
		    "prof diff -o diff.html old.pb.gz new.pb.gz\n"
		    "prof diff --markdown base/ head/ > summary.md",
	.options = diff_option_table,
	.run = diff_run,
};
