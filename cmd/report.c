/*
 * prof report: the hottest functions of a profile, and who calls them.
 */
#include "cmd/report.h"

#include "base/alloc.h"
#include "cmd/command.h"
#include "cmd/message.h"

#include <errno.h>
#include <math.h>
#include <string.h>

struct word {
	const char *word;
	int value;
};

/* False: it is none of them. */
static bool find_word(const struct word *words, const char *text, size_t len, int *ret)
{
	for (; words->word; words++)
		if (strlen(words->word) == len && !strncmp(words->word, text, len)) {
			*ret = words->value;
			return true;
		}
	return false;
}

static const struct word keys[] = {
	{"function", TOP_FUNCTION},
	{"file", TOP_FILE},
	{"line", TOP_LINE},
	{"module", TOP_MODULE},
	{"process", TOP_PROCESS},
	{"thread", TOP_THREAD},
	{NULL, 0},
};

/* perf's names of them. A row has one key: of several the finest. */
static const struct word perf_keys[] = {
	{"srcfile", TOP_FILE},	  {"srcline", TOP_LINE}, {"sym", TOP_FUNCTION},
	{"symbol", TOP_FUNCTION}, {"dso", TOP_MODULE},	 {"tid", TOP_THREAD},
	{"pid", TOP_PROCESS},	  {"comm", TOP_PROCESS}, {NULL, 0},
};

static const struct word orders[] = {
	{"self", TOP_BY_SELF},
	{"total", TOP_BY_TOTAL},
	{"name", TOP_BY_NAME},
	{NULL, 0},
};

static struct error *take_by(void *field, const char *argument)
{
	struct report_order *by = field;
	int key;

	if (!find_word(keys, argument, strlen(argument), &key))
		return error_new("\"%s\" is none of function, file, line, module, process and "
				 "thread",
				 argument);
	by->key = (enum top_key)key;
	return NULL;
}

/* How fine a key of perf's is: where it stands in their table, from the end. */
static struct error *take_perf_keys(struct report_order *by, const char *list)
{
	static const enum top_key fineness[] = {TOP_PROCESS, TOP_THREAD,   TOP_MODULE,
						TOP_FILE,    TOP_FUNCTION, TOP_LINE};
	size_t finest = 0;

	for (const char *at = list; *at; at += *at == ',') {
		size_t len = strcspn(at, ",");
		int key;

		if (!find_word(perf_keys, at, len, &key))
			return error_hint(
				error_new("\"%.*s\" is none of self, total and name", (int)len, at),
				"what rows are made of is said by --by; of perf's keys "
				"comm, pid, tid, dso, sym, srcfile and srcline are known");
		for (size_t i = 0; i < ARRAY_SIZE(fineness); i++)
			if (fineness[i] == (enum top_key)key && i >= finest) {
				finest = i;
				by->key = fineness[i];
			}
		at += len;
	}
	return NULL;
}

static struct error *take_sort(void *field, const char *argument)
{
	struct report_order *by = field;
	int order;

	if (!find_word(orders, argument, strlen(argument), &order))
		return take_perf_keys(by, argument);
	by->order = (enum top_order)order;
	return NULL;
}

static struct error *take_children(void *field, const char *argument)
{
	(void)argument;
	((struct report_order *)field)->order = TOP_BY_TOTAL;
	return NULL;
}

static struct error *take_no_children(void *field, const char *argument)
{
	(void)argument;
	((struct report_order *)field)->order = TOP_BY_SELF;
	return NULL;
}

static struct error *take_min(void *field, const char *argument)
{
	struct report_options *options = field;

	options->has_min = true;
	return option_percent(&options->min_percent, argument);
}

/* -n N; and -n alone, as perf has it. */
static struct error *take_limit_or_samples(void *field, const char *argument)
{
	struct report_options *options = field;

	if (argument)
		return option_count(&options->limit, argument);
	options->shows_samples = true;
	return NULL;
}

/* perf's -g[TYPE,MIN,…,ORDER,…]: of all that there may be, whether there is a tree at all. */
static struct error *take_graph(void *field, const char *argument)
{
	if (argument && !strncmp(argument, "none", 4))
		*(bool *)field = true;
	return NULL;
}

#define ENTRY(letter, name, argument, help, take, member)                                          \
	OPTION_ENTRY(letter, name, argument, help, take, offsetof(struct report_options, member))
#define WHOLE(letter, name, argument, help, take)                                                  \
	OPTION_ENTRY(letter, name, argument, help, take, 0)
#define PASSED_OVER(letter, name)                                                                  \
	{                                                                                          \
		letter, name, NULL, NULL, NULL, offsetof(struct report_options, passed_over),      \
			OPTION_PASSED_OVER                                                         \
	}

static const struct option_entry table[] = {
	ENTRY('i', "input", "FILE", "the same as FILE", option_string, path),
	ENTRY(0, "by", "WHAT", "rows are of a function, file, line, module, process or thread",
	      take_by, by),
	ENTRY('s', "sort", "ORDER", "by self, total or name", take_sort, by),
	WHOLE(0, "min", "PERCENT",
	      "leave out what has less of the samples; if not said, 0.5 for rows and 1 for calls",
	      take_min),
	WHOLE('n', NULL, "[N]", "no more than N rows; without N: show how many samples each has",
	      take_limit_or_samples),
	ENTRY(0, "limit", "N", "no more than N rows", option_count, limit),
	ENTRY(0, "callers", "FUNCTION", "who calls it, up to the roots: a name, or an expression",
	      option_string, callers),
	ENTRY(0, "callees", "FUNCTION", "what it calls", option_string, callees),
	ENTRY(0, "no-tree", NULL, "the table alone", option_true, no_tree),
	ENTRY(0, "no-fold", NULL, "each function of the tree on a line of its own", option_true,
	      no_fold),
	ENTRY(0, "json", NULL, "for programs: the schema is in prof-report(1)", option_true, json),
	SELECTION_ENTRIES(struct report_options, selection),
	SCREEN_ENTRIES(struct report_options, screen),
	INPUT_ENTRIES(struct report_options, input),
	/* As scripts have them for perf report. */
	WHOLE(0, "percent-limit", "PERCENT", NULL, take_min),
	ENTRY('c', "comms", "NAME", NULL, option_string, selection.view.process),
	ENTRY('d', "dsos", "NAME", NULL, option_string, selection.view.modules),
	ENTRY(0, "children", NULL, NULL, take_children, by),
	ENTRY(0, "no-children", NULL, NULL, take_no_children, by),
	ENTRY('g', "call-graph", "[HOW]", NULL, take_graph, no_tree),
	ENTRY(0, "show-nr-samples", NULL, NULL, option_true, shows_samples),
	PASSED_OVER(0, "stdio"),
	PASSED_OVER(0, "stdio2"),
	PASSED_OVER(0, "header"),
	PASSED_OVER('f', "force"),
	PASSED_OVER('q', "quiet"),
	{0},
};

static int print_help(void)
{
	printf("Usage: prof report [FILE] [options]\n\n"
	       "Shows the hottest functions of a profile and the calls that lead to them. FILE is "
	       "a "
	       "profile\n(pprof, folded stacks) or a recording of perf, - is stdin; prof.pb.gz if "
	       "not said.\n\n");
	options_help(table, stdout);
	return STATUS_OK;
}

static struct error *choose_functions(struct report *report)
{
	const struct report_options *options = report->options;
	const char *name = options->callers ? options->callers : options->callees;
	uint32_t count;
	struct error *err;

	if (options->callers && options->callees && strcmp(options->callers, options->callees) != 0)
		return error_new("--callers and --callees are of one function at a time");
	err = view_functions(&report->view, name, &report->chosen, &count);
	if (!err && !count)
		err = error_hint(error_new("no function is called \"%s\"", name),
				 "prof report %s --min 0 lists all there are", report->path);
	return err;
}

static double row_percent(const struct report_options *options)
{
	return options->has_min ? options->min_percent : 0.5;
}

/* A tree has more lines than a table has rows. */
double report_tree_percent(const struct report_options *options)
{
	return options->has_min ? options->min_percent : 1;
}

static uint64_t weight_of_share(double percent, uint64_t whole)
{
	return (uint64_t)ceil(percent / 100 * (double)whole);
}

/* The largest of the functions whose callers or callees are asked for: what matters among them is a
 * part of it. */
static uint64_t weight_of_chosen(const struct report *report)
{
	uint64_t most = 0;

	for (size_t i = 0; i < report->top.count; i++) {
		const struct top_row *row = &report->top.rows[i];

		if (report->chosen[row->label] && row->total.weight > most)
			most = row->total.weight;
	}
	return most;
}

static struct error *make_trees(struct report *report)
{
	const struct report_options *options = report->options;
	double percent = report_tree_percent(options);
	struct error *err = NULL;

	if (!options->callers && !options->callees) {
		report->min_tree_weight =
			weight_of_share(percent, report->view.stacks[STACK_EMPTY].total.weight);
		if (!options->no_tree)
			outline_calls(&report->calls, &report->view, report->min_tree_weight);
		return NULL;
	}
	err = choose_functions(report);
	if (err)
		return err;
	report->min_tree_weight = weight_of_share(percent, weight_of_chosen(report));
	if (options->callers)
		outline_callers(&report->callers, &report->view, report->chosen,
				report->min_tree_weight);
	if (options->callees)
		outline_callees(&report->callees, &report->view, report->chosen,
				report->min_tree_weight);
	return NULL;
}

static struct error *make_report(struct report *report)
{
	const struct report_options *options = report->options;
	struct error *err = selection_view(&options->selection, report->profile, report->path,
					   &report->view);

	if (err)
		return err;
	report->min_weight = weight_of_share(row_percent(options),
					     report->view.stacks[STACK_EMPTY].total.weight);
	top_init(&report->top, &report->view,
		 options->callers || options->callees ? TOP_FUNCTION : options->by.key);
	top_sort(&report->top, options->by.order);
	return make_trees(report);
}

static void show_text(const struct report *report, const struct pen *pen)
{
	pen_header(pen, report->path, &report->options->selection);
	if (!report->view.stacks[STACK_EMPTY].total.weight) {
		fputs("\nno samples\n", pen->out);
		return;
	}
	report_table(report, pen);
	report_tree(report, pen, &report->calls, "calls");
	report_tree(report, pen, &report->callers, "who calls it");
	report_tree(report, pen, &report->callees, "what it calls");
}

static struct error *show(const struct report *report)
{
	struct screen screen;
	struct error *err;

	if (report->options->json) {
		report_json(report, stdout);
		return NULL;
	}
	screen_open(&screen, &report->options->screen);
	show_text(report,
		  &(struct pen){.screen = &screen, .out = screen.out, .view = &report->view});
	err = screen_show(&screen);
	screen_close(&screen);
	return err;
}

static void report_deinit(struct report *report)
{
	top_deinit(&report->top);
	outline_deinit(&report->calls);
	outline_deinit(&report->callers);
	outline_deinit(&report->callees);
	free(report->chosen);
	view_deinit(&report->view);
}

static int report_on(const struct report_options *options, const char *path)
{
	CLEANUP(input_deinit) struct input input = {0};
	CLEANUP(report_deinit)
	struct report report = {.options = options, .path = path, .input = &input};
	struct error *err = input_read(path, &options->input, &input);

	if (!err) {
		report.profile = input.profile;
		err = make_report(&report);
	}
	if (!err)
		err = show(&report);
	return err ? message_failure(err, STATUS_FAILED) : STATUS_OK;
}

static bool is_number(const char *word)
{
	return *word && !word[strspn(word, "0123456789")];
}

/* What may stand behind perf's -g. */
static bool is_graph(const char *word)
{
	static const struct word graphs[] = {
		{"none", 0},   {"caller", 0}, {"callee", 0},  {"graph", 0},
		{"folded", 0}, {"flat", 0},   {"fractal", 0}, {NULL, 0},
	};
	int value;

	return find_word(graphs, word, strcspn(word, ","), &value);
}

/* "-n 20" and "-g caller" as one word each: getopt takes an argument that may be missing only so.
 */
static void join_words(int *argc, char **argv, struct option_list *joined)
{
	for (int i = 0; i + 1 < *argc; i++) {
		CLEANUP(free_ptr) char *both = NULL;

		if (!strcmp(argv[i], "--"))
			return;
		if (!(!strcmp(argv[i], "-n") && is_number(argv[i + 1])) &&
		    !(!strcmp(argv[i], "-g") && is_graph(argv[i + 1])))
			continue;
		both = xasprintf("%s%s", argv[i], argv[i + 1]);
		error_free(option_append(joined, both));
		argv[i] = joined->items[joined->count - 1];
		memmove(&argv[i + 1], &argv[i + 2], (size_t)(*argc - i - 1) * sizeof(*argv));
		--*argc;
	}
}

static struct error *parse(struct report_options *options, int argc, char **argv, bool *help)
{
	int rest = 0;

	for (; argc > 0; argc -= rest, argv += rest) {
		struct error *err = options_parse(table, argc, argv, options, &rest, help);

		if (err || *help || rest >= argc)
			return err;
		if (options->path)
			return error_hint(error_new("more than one file: %s and %s", options->path,
						    argv[rest]),
					  "prof diff OLD NEW compares two");
		options->path = argv[rest];
	}
	return NULL;
}

static int report_run(int argc, char **argv)
{
	CLEANUP(option_list_deinit) struct option_list joined = {0};
	struct report_options options = {.input.shows_progress = true};
	bool help = false;
	struct error *err;
	int status;

	join_words(&argc, argv, &joined);
	err = parse(&options, argc, argv, &help);
	if (!err && help)
		return print_help();
	if (!err && !options.path)
		options.path = input_default();
	if (!err && !options.path)
		err = error_hint(error_new("no file to report on"),
				 "prof record COMMAND makes prof.pb.gz; prof report --help says "
				 "more");
	status = err ? message_failure(err, STATUS_USAGE) : report_on(&options, options.path);
	option_list_deinit(&options.passed_over);
	return status;
}

const struct command command_report = {
	.name = "report",
	.summary = "the hottest functions of a profile, and the calls that lead to them",
	.run = report_run,
};
