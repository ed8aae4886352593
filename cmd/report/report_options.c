#include "cmd/report/report_options.h"

#include "base/alloc.h"
#include "base/text.h"
#include "profile/cpu_records.h"
#include "profile/memory_events.h"

#include <string.h>

static const struct option_choice orders[] = {
	{"self", ROWS_BY_SELF}, {"total", ROWS_BY_TOTAL}, {"name", ROWS_BY_NAME}, {0}};

/* The sort keys of perf report and the corresponding rows of --by, from coarse
 * to fine. */
static const struct option_choice perf_keys[] = {
	{"comm", ROW_PROCESS},	  {"pid", ROW_PROCESS},	 {"tid", ROW_THREAD},
	{"dso", ROW_MODULE},	  {"srcfile", ROW_FILE}, {"sym", ROW_FUNCTION},
	{"symbol", ROW_FUNCTION}, {"srcline", ROW_LINE}, {0}};

/* A row has one key. If perf report has several keys, the finest one is used. */
static struct error *report_options_take_sort(void *field, const char *argument)
{
	struct report_order *by = field;
	CLEANUP(free_ptr) char *words = xstrdup(argument);
	const struct option_choice *finest = perf_keys;

	for (char *rest = words, *word; (word = strsep(&rest, ","));) {
		const struct option_choice *key = option_choice_find(perf_keys, word);
		int order = by->order;
		struct error *err = key ? NULL : option_choice("sort key", orders, word, &order);

		if (err)
			return error_hint(err,
					  "--by selects what the rows are; of perf's keys comm, "
					  "pid, tid, dso, sym, srcfile and srcline are known");
		by->order = (enum row_order)order;
		by->has_order = true;
		if (key && key >= finest) {
			finest = key;
			by->row.key = (enum row_key)key->value;
		}
	}
	return NULL;
}

/* A field of a perf.data file becomes a label when the file is read. */
static struct error *report_options_take_by(void *field, const char *argument)
{
	struct report_options *options = field;
	struct error *err = selection_take_by(&options->by.row, argument);

	if (!err && text_begins(argument, "field:"))
		err = option_append(&options->input.labels, options->by.row.label);
	return err;
}

static struct error *take_children(void *field, const char *argument)
{
	(void)argument;
	((struct report_order *)field)->order = ROWS_BY_TOTAL;
	return NULL;
}

static struct error *take_no_children(void *field, const char *argument)
{
	(void)argument;
	((struct report_order *)field)->order = ROWS_BY_SELF;
	return NULL;
}

static struct error *report_options_take_min(void *field, const char *argument)
{
	struct report_options *options = field;

	options->has_min = true;
	return option_percent(&options->min_percent, argument);
}

static struct error *take_latency(void *field, const char *argument)
{
	struct report_options *options = field;

	(void)argument;
	options->selection.event = VALUE_ELAPSED_EVENT;
	options->input.adds_elapsed = true;
	return NULL;
}

/* -n N limits the rows. -n alone shows numbers of samples, as in perf report. */
static struct error *take_limit_or_samples(void *field, const char *argument)
{
	struct report_options *options = field;

	if (argument)
		return option_count(&options->limit, argument);
	options->shows_samples = true;
	return NULL;
}

/* A shorter summary would have only headings. */
static struct error *report_options_take_summary(void *field, const char *argument)
{
	struct report_options *options = field;
	struct error *err = argument ? option_count(&options->summary_lines, argument) : NULL;

	options->summary = true;
	if (!err && argument && options->summary_lines < SUMMARY_LEAST_LINES)
		err = error_new("a summary has at least %d lines", SUMMARY_LEAST_LINES);
	return err;
}

/* perf's -g[TYPE,MIN,…,ORDER,…]: only "none" has an effect. */
static struct error *take_graph(void *field, const char *argument)
{
	if (argument && text_begins(argument, "none"))
		*(bool *)field = true;
	return NULL;
}

#define FIELD(name) offsetof(struct report_options, name)
#define IGNORED(letter, name) OPTION_UNLISTED(letter, name, NULL, FIELD(ignored), OPTION_IGNORED)

const struct option_entry report_option_table[] = {
	OPTION_ENTRY(INPUT, 'i', "input", "FILE", "read FILE, as the argument FILE", option_string,
		     FIELD(path)),
	INPUT_RANGE_ENTRIES(struct report_options, input),
	INPUT_ELAPSED_ENTRY(struct report_options, input),
	SELECTION_ENTRIES(struct report_options, selection),
	LOGICAL_ENTRY(struct report_options, input.logical, LOGICAL_OF_TABLES ", no with --json"),
	OPTION_ENTRY(SELECTION, 0, "idle", NULL,
		     "show idle time; off-CPU time of event loops, of parked threads and of accept",
		     option_true, FIELD(shows_idle)),
	OPTION_COMMON(
		VIEW, 0, "by",
		"function|module|process|thread|task|file|line|size|lifetime|age|label:KEY|field:"
		"NAME",
		"choose what a row is (default function); task: a spawned future, a job, or the "
		"goroutines of one go statement. size, lifetime and age: buckets of allocations. "
		"label:KEY: a value of a label. field:NAME: a value of a tracepoint field",
		report_options_take_by, 0),
	OPTION_COMMON(VIEW, 's', "sort", "self|total|name",
		      "choose the order of rows (default self)", report_options_take_sort,
		      FIELD(by)),
	OPTION_ENTRY(
		VIEW, 0, "min", "PERCENT",
		"omit rows and calls below this share of the samples; default 0.5 for rows, 1 for "
		"calls",
		report_options_take_min, 0),
	OPTION_COMMON(VIEW, 'n', NULL, "[N]",
		      "show at most N rows (default 20); without N, show the number of samples",
		      take_limit_or_samples, 0),
	OPTION_ENTRY(VIEW, 0, "limit", "N", "show at most N rows (default 20)", option_count,
		     FIELD(limit)),
	OPTION_COMMON(VIEW, 0, "callers", "FUNCTION",
		      "show the callers of a function; a name or a regular expression",
		      option_string, FIELD(callers)),
	OPTION_COMMON(VIEW, 0, "callees", "FUNCTION", "show the callees of a function",
		      option_string, FIELD(callees)),
	OPTION_COMMON(VIEW, 0, "leaks", NULL,
		      "show memory in use at the end; by the function that allocated it, of prof "
		      "record --alloc and other heap profiles",
		      option_true, FIELD(leaks)),
	OPTION_ENTRY(VIEW, 0, "branches", NULL,
		     "show taken branches and their mispredictions; of prof record -b", option_true,
		     FIELD(branches)),
	OPTION_ENTRY(VIEW, 0, "no-tree", NULL, "show only the table", option_true, FIELD(no_tree)),
	OPTION_ENTRY(VIEW, 0, "no-fold", NULL, "put each function of the tree on its own line",
		     option_true, FIELD(no_fold)),
	OPTION_COMMON(OUTPUT, 0, "summary", "[LINES]",
		      "print a summary in Markdown; of at most LINES lines (default 100)",
		      report_options_take_summary, 0),
	OPTION_COMMON(OUTPUT, 0, "json", NULL, "print JSON; prof-report(1) describes the schema",
		      option_true, FIELD(json)),
	PAGER_ENTRIES(struct report_options, pager),
	NAMES_ENTRY(struct report_options, names, NAMES_OF_TABLES),
	INPUT_ENTRIES(struct report_options, input),

	/* Options of perf report, for scripts. */
	OPTION_ENTRY(NONE, 0, "percent-limit", "PERCENT", NULL, report_options_take_min, 0),
	OPTION_ENTRY(NONE, 'c', "comms", "NAME", NULL, option_string,
		     FIELD(selection.view.process)),
	OPTION_ENTRY(NONE, 'd', "dsos", "NAME", NULL, option_string, FIELD(selection.view.modules)),
	OPTION_ENTRY(NONE, 0, "children", NULL, NULL, take_children, FIELD(by)),
	OPTION_ENTRY(NONE, 0, "no-children", NULL, NULL, take_no_children, FIELD(by)),
	OPTION_ENTRY(NONE, 'g', "call-graph", "[HOW]", NULL, take_graph, FIELD(no_tree)),
	OPTION_ENTRY(NONE, 0, "latency", NULL, NULL, take_latency, 0),
	OPTION_ENTRY(NONE, 0, "show-nr-samples", NULL, NULL, option_true, FIELD(shows_samples)),
	IGNORED(0, "stdio"),
	IGNORED(0, "stdio2"),
	IGNORED(0, "header"),
	IGNORED(0, "inline"),
	IGNORED('G', "inverted"), /* the tree starts at the outermost functions */
	IGNORED('v', "verbose"),
	IGNORED('f', "force"),
	IGNORED('q', "quiet"),
	{0},
};
#undef FIELD
#undef IGNORED

static bool report_options_is_number(const char *word)
{
	return *word && !word[strspn(word, "0123456789")];
}

/* Returns true for types and orders of perf's -g. */
static bool is_graph(const char *word)
{
	static const char *const graphs[] = {"none",   "caller", "callee", "graph",
					     "folded", "flat",	 "fractal"};
	size_t len = strcspn(word, ",");

	for (size_t i = 0; i < ARRAY_SIZE(graphs); i++)
		if (strlen(graphs[i]) == len && !strncmp(graphs[i], word, len))
			return true;
	return false;
}

/* Joins "-n 20" and "-g caller" into one word each, because getopt requires
 * that for optional arguments. */
static void join_words(int *argc, char **argv, struct option_list *joined)
{
	for (int i = 0; i + 1 < *argc; i++) {
		CLEANUP(free_ptr) char *both = NULL;

		if (!strcmp(argv[i], "--"))
			return;
		if (!(!strcmp(argv[i], "-n") && report_options_is_number(argv[i + 1])) &&
		    !(!strcmp(argv[i], "-g") && is_graph(argv[i + 1])))
			continue;
		both = xasprintf("%s%s", argv[i], argv[i + 1]);
		error_free(option_append(joined, both));
		argv[i] = joined->items[joined->count - 1];
		memmove(&argv[i + 1], &argv[i + 2], (size_t)(*argc - i - 1) * sizeof(*argv));
		--*argc;
	}
}

static struct error *report_options_parse_words(struct report_options *options, int argc,
						char **argv, enum option_group *help)
{
	int rest = 0;

	for (; argc > 0; argc -= rest, argv += rest) {
		struct error *err = options_parse(report_option_table, argc, argv, options, &rest,
						  help);

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

/* Chooses the event for options that imply one. Fails if they exclude each
 * other. */
static struct error *report_options_choose_event(struct report_options *options)
{
	const char *way = options->leaks ? "--leaks" : options->branches ? "--branches" : "-e";
	const char *event = options->leaks ? memory_event_name(MEMORY_INUSE_SPACE)
					   : cpu_record_name(CPU_BRANCHES);

	if (options->leaks + options->branches + !!options->selection.event > 1)
		return error_hint(
			error_new("%s and %s both choose the event", way,
				  options->leaks && options->branches ? "--branches" : "-e"),
			"%s shows %s", way, event);
	if (options->branches && options->input.logical == LOGICAL_YES)
		return error_new("--branches and --logical exclude each other");
	if (options->leaks || options->branches)
		options->selection.event = event;
	return NULL;
}

/* A summary has tables of its own. */
static struct error *report_options_check_summary(const struct report_options *options)
{
	const char *other = options->json	  ? "--json"
			    : options->callers	  ? "--callers"
			    : options->callees	  ? "--callees"
			    : options->leaks	  ? "--leaks"
			    : options->branches	  ? "--branches"
			    : options->by.row.key ? "--by"
						  : NULL;

	return options->summary && other ? error_new("--summary and %s exclude each other", other)
					 : NULL;
}

struct error *report_options_parse(struct report_options *options, int argc, char **argv,
				   enum option_group *help)
{
	struct error *err;

	*options = (struct report_options){.input.shows_progress = true};
	join_words(&argc, argv, &options->joined);
	err = report_options_parse_words(options, argc, argv, help);
	if (err || *help)
		return err;
	err = report_options_choose_event(options);
	if (!err)
		err = report_options_check_summary(options);
	if (err)
		return err;
	if (!options->path)
		options->path = input_default();
	return options->path ? NULL
			     : error_hint(error_new("no file to report on"),
					  "prof record COMMAND writes prof.pb.gz; see prof report "
					  "--help");
}

void report_options_deinit(struct report_options *options)
{
	option_list_deinit(&options->ignored);
	option_list_deinit(&options->joined);
	option_list_deinit(&options->input.labels);
	selection_options_deinit(&options->selection);
}
