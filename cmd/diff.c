/*
 * prof diff: compares recordings and says what has become slower, beyond chance.
 */
#include "base/alloc.h"
#include "cmd/command.h"
#include "cmd/diff_files.h"
#include "cmd/diff_report.h"
#include "cmd/fail_condition.h"
#include "cmd/outputs.h"
#include "cmd/selection.h"
#include "cmd/ui/message.h"

#include <string.h>

/* As diff(1) and grep(1) exit: 1 if a condition holds, 2 if something failed. */
enum { STATUS_CONDITION = 1, STATUS_TROUBLE = 2 };

enum { DEFAULT_ROWS = 20 };

enum normalize { NORMALIZE_AUTO, NORMALIZE_TIME, NORMALIZE_SHARE, NORMALIZE_SAMPLES };

struct diff_command_options {
	struct input_options input;
	struct pager_options pager;
	struct option_list outputs;
	const char *event;
	struct option_list labels; /* conditions */
	const char *by_label;	   /* NULL: by function */
	enum normalize normalize;
	double confidence, noise;
	struct fail_conditions conditions;
	uint64_t rows;
	bool json, quiet;
};

struct comparing {
	struct diff_command_options options;
	struct option_list old, new; /* names of files */
	struct diff_files files;
	struct comparison_options comparison;
	bool by_samples;
	struct outputs outputs;
};

static struct error *take_normalize(void *field, const char *argument)
{
	static const struct option_choice choices[] = {{"time", NORMALIZE_TIME},
						       {"share", NORMALIZE_SHARE},
						       {"samples", NORMALIZE_SAMPLES},
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
	static const struct option_choice choices[] = {{"function", 0}, {"label:KEY", 1}, {0}};
	static const char label[] = "label:";
	int choice;

	if (!strncmp(argument, label, strlen(label)) && argument[strlen(label)]) {
		*(const char **)field = argument + strlen(label);
		return NULL;
	}
	*(const char **)field = NULL;
	return option_choice("table", choices, argument, &choice);
}

#define FIELD(name) offsetof(struct diff_command_options, name)

static const struct option_entry table[] = {
	OPTION_ENTRY(
		0, "normalize", "time|samples|share",
		"compare by time: weight per recording, for runs of the same work; samples: "
		"samples per recording; share: shares of each side, for services that keep "
		"running (default time if all files are recordings of a whole command, else share)",
		take_normalize, FIELD(normalize)),
	OPTION_ENTRY('e', "event", "NAME",
		     "compare this event (default: the first one that all files have)",
		     option_string, FIELD(event)),
	OPTION_ENTRY(0, "label", "KEY[=GLOB]", SELECTION_LABEL_HELP, option_append, FIELD(labels)),
	OPTION_ENTRY(0, "by", "WHAT",
		     "show a row per function (default) or label:KEY: value of a label", take_by,
		     FIELD(by_label)),
	OPTION_ENTRY(0, "confidence", "PERCENT",
		     "call a change significant at this confidence (default 99)", take_confidence,
		     FIELD(confidence)),
	OPTION_ENTRY(0, "noise", "PERCENT",
		     "assume that two runs of one program differ by this much if there is one "
		     "recording per side (default 2)",
		     take_noise, FIELD(noise)),
	OPTION_ENTRY(0, "fail-if", "CONDITION",
		     "exit 1 if the change is significant and larger: 'slower>5%' of the whole, "
		     "'FUNCTION>2%' of a function, in percent of the whole; repeatable",
		     fail_condition_append, FIELD(conditions)),
	OPTION_ENTRY('o', "output", "FILE",
		     "also write a graph of the difference; the extension selects the format",
		     option_append, FIELD(outputs)),
	OPTION_ENTRY(0, "json", NULL, "print JSON; prof-diff(1) describes the schema", option_true,
		     FIELD(json)),
	OPTION_ENTRY('n', "limit", "N", "show at most N functions and N stacks (default 20)",
		     option_count, FIELD(rows)),
	OPTION_ENTRY('q', "quiet", NULL, "print only errors", option_true, FIELD(quiet)),
	PAGER_ENTRIES(struct diff_command_options, pager),
	INPUT_ENTRIES(struct diff_command_options, input),
	{0},
};

static void decide(struct comparing *comparing)
{
	enum normalize normalize = comparing->options.normalize;

	if (normalize == NORMALIZE_AUTO)
		normalize = diff_files_are_runs(&comparing->files) ? NORMALIZE_TIME
								   : NORMALIZE_SHARE;
	comparing->by_samples = normalize == NORMALIZE_SAMPLES || comparing->files.by_samples;
	comparing->comparison = (struct comparison_options){
		.kind = normalize == NORMALIZE_SHARE ? COMPARE_SHARES : COMPARE_WEIGHTS,
		.confidence = comparing->options.confidence,
		.noise = comparing->options.noise,
	};
}

static bool is_meant(const char *name, const char *wanted)
{
	size_t len = strlen(wanted);

	return !strncmp(name, wanted, len) && (!name[len] || name[len] == '(');
}

/* NULL if there is no such function. */
static const struct change *change_called(const struct diff *diff, const char *name)
{
	if (!strcmp(name, "slower"))
		return &diff->whole;
	for (uint32_t i = 0; i < diff->count; i++)
		if (is_meant(diff->labels.items[diff->rows[i].label].name, name))
			return &diff->rows[i].total;
	return NULL;
}

static bool is_met(const struct diff_report *report, const struct fail_condition *condition)
{
	const struct change *change = change_called(report->diff, condition->what);

	if (!change) {
		message("--fail-if: no function is called %s", condition->what);
		return false;
	}
	if (!change->is_significant || change->after - change->before <= condition->limit)
		return false;
	message("%s: %+.1f %%, significant and more than %g %%", condition->what,
		(change->after - change->before) * 100, condition->limit * 100);
	return true;
}

static int judge(const struct comparing *comparing, const struct diff_report *report)
{
	int status = STATUS_OK;

	if (report->diff->verdict == DIFF_NOTHING)
		return status;
	for (size_t i = 0; i < comparing->options.conditions.count; i++)
		if (is_met(report, &comparing->options.conditions.items[i]))
			status = STATUS_CONDITION;
	return status;
}

/* Shares do not tell whether the whole has changed. */
static struct error *check_conditions(const struct comparing *comparing)
{
	for (size_t i = 0; i < comparing->options.conditions.count; i++)
		if (!strcmp(comparing->options.conditions.items[i].what, "slower") &&
		    comparing->comparison.kind == COMPARE_SHARES)
			return error_hint(
				error_new("shares do not tell whether the whole is slower"),
				"--normalize time compares the weight per recording");
	return NULL;
}

static bool prints_to_stdout(const struct comparing *comparing)
{
	for (size_t i = 0; i < comparing->outputs.count; i++)
		if (output_is_stdout(comparing->outputs.items[i].path))
			return false;
	return !comparing->options.quiet;
}

static int draw(struct comparing *comparing, const struct diff_report *report)
{
	bool of_shares = comparing->comparison.kind == COMPARE_SHARES;
	size_t last = comparing->files.count - 1;
	CLEANUP(profile_cleanup) struct profile *sides = NULL;
	CLEANUP(free_ptr) char *title = NULL;
	CLEANUP(free_ptr) char *verdict = NULL;

	if (!comparing->outputs.count)
		return STATUS_OK;
	title = xasprintf("prof diff %s %s", comparing->files.items[0].path,
			  comparing->files.items[last].path);
	verdict = diff_verdict_line(report);
	sides = diff_files_merge_sides(&comparing->files, of_shares);
	profile_set_info(sides, &(struct profile_info){.command = title, .headline = verdict});
	return outputs_write(
		&comparing->outputs, sides,
		&(struct format_options){
			.difference = of_shares ? DIFFERENCE_SHARES : DIFFERENCE_WEIGHTS,
		});
}

static int show(const struct comparing *comparing, const struct diff_report *report)
{
	struct pager pager;
	struct error *err;

	if (!prints_to_stdout(comparing))
		return STATUS_OK;
	if (comparing->options.json) {
		diff_print_json(report, stdout);
		return STATUS_OK;
	}
	pager_open(&pager, &comparing->options.pager);
	diff_print(report, &pager);
	err = pager_show(&pager);
	pager_close(&pager);
	return err ? message_failure(err, STATUS_TROUBLE) : STATUS_OK;
}

/* What is compared: the weights of the event, or its samples. */
static void set_quantity(struct diff_report *report, const struct comparing *comparing)
{
	struct diff_event event = diff_files_event(&comparing->files);

	report->event = event.name;
	report->kind = comparing->by_samples ? VALUE_COUNT : event.kind;
	report->unit = comparing->by_samples ? "" : event.unit;
	report->quantity = comparing->by_samples ? "samples" : value_words(event.kind, event.name);
}

static int compare(struct comparing *comparing)
{
	struct diff_report report = {.options = &comparing->comparison,
				     .old = &comparing->old,
				     .new = &comparing->new,
				     .label = comparing->options.by_label,
				     .rows = comparing->options.rows};
	CLEANUP(free_ptr)
	double *per_weight = diff_files_samples_per_weight(&comparing->files, &report.is_guess);
	CLEANUP(free_ptr) double *threads = diff_files_threads(&comparing->files);
	CLEANUP(profile_cleanup) struct profile *merged = diff_files_merge(&comparing->files);
	CLEANUP(diff_deinit) struct diff diff;

	diff_init(&diff, merged,
		  &(struct diff_options){.comparison = comparing->comparison,
					 .old_count = (uint32_t)comparing->old.count,
					 .by_samples = comparing->by_samples,
					 .samples_per_weight = per_weight,
					 .threads = threads});
	report.diff = &diff;
	set_quantity(&report, comparing);
	if (show(comparing, &report) != STATUS_OK || draw(comparing, &report) != STATUS_OK)
		return STATUS_TROUBLE;
	return judge(comparing, &report);
}

static struct error *read_all(struct comparing *comparing)
{
	struct input_options options = comparing->options.input;
	struct error *err;

	options.shows_progress = !comparing->options.quiet;
	err = diff_files_read(&comparing->files, &comparing->old, &comparing->new, &options);
	if (!err)
		err = diff_files_select(&comparing->files, &comparing->options.labels,
					comparing->options.by_label);
	if (!err)
		err = diff_files_choose_event(&comparing->files, comparing->options.event);
	if (err)
		return err;
	decide(comparing);
	return check_conditions(comparing);
}

static int run(struct comparing *comparing)
{
	struct error *err = read_all(comparing);

	return err ? message_failure(err, STATUS_TROUBLE) : compare(comparing);
}

static int open_outputs(struct comparing *comparing)
{
	const struct option_list *names = &comparing->options.outputs;

	for (size_t i = 0; i < names->count; i++) {
		if (outputs_add(&comparing->outputs, names->items[i], NULL) != STATUS_OK)
			return STATUS_TROUBLE;
		if (!comparing->outputs.items[i].format->shows_differences)
			return message_failure(
				error_hint(
					error_new("%s: the format %s cannot show differences",
						  names->items[i],
						  comparing->outputs.items[i].format->name),
					"folded stacks and the HTML page can: -o FILE.folded, -o "
					"FILE.html"),
				STATUS_TROUBLE);
	}
	return STATUS_OK;
}

static void comparing_deinit(struct comparing *comparing)
{
	diff_files_deinit(&comparing->files);
	outputs_close(&comparing->outputs);
	option_list_deinit(&comparing->old);
	option_list_deinit(&comparing->new);
	option_list_deinit(&comparing->options.outputs);
	option_list_deinit(&comparing->options.labels);
	fail_conditions_deinit(&comparing->options.conditions);
}

static int print_help(void)
{
	printf("Usage: prof diff [options] OLD NEW\n"
	       "       prof diff [options] OLD OLD2 ... -- NEW NEW2 ...\n\n"
	       "Says whether NEW costs more than OLD, which functions and stacks do, and whether "
	       "the changes\nare significant. Files are pprof, folded stacks or perf.data. Several "
	       "recordings per side measure\nhow much runs differ anyway.\n\n");
	options_help(table, stdout);
	return STATUS_OK;
}

/* Options may be before, between and after the files. */
static struct error *parse(struct comparing *comparing, int argc, char **argv,
			   struct option_list *files, bool *help)
{
	int rest = 0;

	for (; argc > 0; argc -= rest, argv += rest) {
		struct error *err = options_parse(table, argc, argv, &comparing->options, &rest,
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
static struct error *part_sides(struct comparing *comparing, bool is_parted)
{
	struct error *err = NULL;

	if (!is_parted && comparing->old.count == 2) {
		err = option_append(&comparing->new, comparing->old.items[1]);
		free(comparing->old.items[--comparing->old.count]);
	}
	if (!err && (!comparing->old.count || !comparing->new.count))
		err = error_hint(error_new(is_parted ? "one side has no files"
						     : "expected two files, got %zu",
					   comparing->old.count),
				 "prof diff OLD NEW, or prof diff OLD OLD2 -- NEW NEW2");
	return err;
}

static int diff_run(int argc, char **argv)
{
	CLEANUP(comparing_deinit)
	struct comparing comparing = {
		.options = {.rows = DEFAULT_ROWS, .confidence = 0.99, .noise = 0.02}};
	int middle = separator(argc, argv);
	bool help = false;
	struct error *err = parse(&comparing, middle, argv, &comparing.old, &help);
	int status;

	if (!err && !help && middle < argc)
		err = parse(&comparing, argc - middle, argv + middle, &comparing.new, &help);
	if (!err && help)
		return print_help();
	if (!err)
		err = part_sides(&comparing, middle < argc);
	if (err)
		return message_failure(err, STATUS_TROUBLE);
	status = open_outputs(&comparing);
	return status == STATUS_OK ? run(&comparing) : status;
}

const struct command command_diff = {
	.name = "diff",
	.summary = "compare recordings: what has become slower, beyond chance",
	.options = table,
	.run = diff_run,
};
