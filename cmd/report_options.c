#include "cmd/report_options.h"

#include "base/alloc.h"
#include "base/text.h"
#include "profile/cpu_records.h"
#include "profile/memory_events.h"

#include <string.h>

static const struct option_choice orders[] = {
	{"self", ROWS_BY_SELF}, {"total", ROWS_BY_TOTAL}, {"name", ROWS_BY_NAME}, {0}};

/* The sort keys of perf report: what the rows are, as --by. From coarse to fine. */
static const struct option_choice perf_keys[] = {
	{"comm", ROW_PROCESS},	  {"pid", ROW_PROCESS},	 {"tid", ROW_THREAD},
	{"dso", ROW_MODULE},	  {"srcfile", ROW_FILE}, {"sym", ROW_FUNCTION},
	{"symbol", ROW_FUNCTION}, {"srcline", ROW_LINE}, {0}};

/* A row has one key: of several keys of perf report the finest counts. */
static struct error *take_sort(void *field, const char *argument)
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
static struct error *take_by(void *field, const char *argument)
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

static struct error *take_min(void *field, const char *argument)
{
	struct report_options *options = field;

	options->has_min = true;
	return option_percent(&options->min_percent, argument);
}

/* -n N limits the rows; -n alone shows numbers of samples, as in perf report. */
static struct error *take_limit_or_samples(void *field, const char *argument)
{
	struct report_options *options = field;

	if (argument)
		return option_count(&options->limit, argument);
	options->shows_samples = true;
	return NULL;
}

/* perf's -g[TYPE,MIN,…,ORDER,…]: only "none" has an effect. */
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
#define IGNORED(letter, name)                                                                      \
	{                                                                                          \
		letter, name, NULL, NULL, NULL, offsetof(struct report_options, ignored),          \
			OPTION_IGNORED                                                             \
	}

const struct option_entry report_option_table[] = {
	ENTRY('i', "input", "FILE", "read FILE, as the argument FILE", option_string, path),
	WHOLE(0, "by",
	      "function|module|process|thread|task|file|line|size|lifetime|age|label:KEY|field:"
	      "NAME",
	      "show a row per function (default), file, line, module, process, thread, task (a "
	      "spawned future, a job, goroutines of one go statement), class of size or lifetime "
	      "of allocations, value of a label (label:KEY) or of a field of a tracepoint "
	      "(field:NAME)",
	      take_by),
	ENTRY('s', "sort", "self|total|name", "sort rows by self, total or name (default self)",
	      take_sort, by),
	WHOLE(0, "min", "PERCENT",
	      "leave out rows and calls below this share of the samples (default 0.5 for rows, 1 "
	      "for "
	      "calls)",
	      take_min),
	WHOLE('n', NULL, "[N]",
	      "show at most N rows (default 20); without N: show the number of samples, too",
	      take_limit_or_samples),
	ENTRY(0, "limit", "N", "show at most N rows (default 20)", option_count, limit),
	ENTRY(0, "callers", "FUNCTION",
	      "show the callers of a function, a name or a regular expression", option_string,
	      callers),
	ENTRY(0, "callees", "FUNCTION", "show the callees of a function", option_string, callees),
	ENTRY(0, "leaks", NULL,
	      "show what was in use at the end, by the function that allocated it (of prof record "
	      "--alloc and other heap profiles)",
	      option_true, leaks),
	ENTRY(0, "branches", NULL,
	      "show taken branches, from where to where, how often, and how many were mispredicted "
	      "(of prof record -b)",
	      option_true, branches),
	INPUT_RANGE_ENTRIES(struct report_options, input),
	INPUT_LOGICAL_ENTRY(struct report_options, input),
	ENTRY(0, "no-tree", NULL, "show only the table", option_true, no_tree),
	ENTRY(0, "no-fold", NULL, "put each function of the tree on a line of its own", option_true,
	      no_fold),
	ENTRY(0, "json", NULL, "print JSON; prof-report(1) describes the schema", option_true,
	      json),
	NAMES_ENTRY(struct report_options, names, NAMES_OF_TABLES),
	SELECTION_ENTRIES(struct report_options, selection),
	PAGER_ENTRIES(struct report_options, pager),
	INPUT_ENTRIES(struct report_options, input),
	/* Options of perf report, for scripts. */
	WHOLE(0, "percent-limit", "PERCENT", NULL, take_min),
	ENTRY('c', "comms", "NAME", NULL, option_string, selection.view.process),
	ENTRY('d', "dsos", "NAME", NULL, option_string, selection.view.modules),
	ENTRY(0, "children", NULL, NULL, take_children, by),
	ENTRY(0, "no-children", NULL, NULL, take_no_children, by),
	ENTRY('g', "call-graph", "[HOW]", NULL, take_graph, no_tree),
	ENTRY(0, "show-nr-samples", NULL, NULL, option_true, shows_samples),
	IGNORED(0, "stdio"),
	IGNORED(0, "stdio2"),
	IGNORED(0, "header"),
	IGNORED('f', "force"),
	IGNORED('q', "quiet"),
	{0},
};

static bool is_number(const char *word)
{
	return *word && !word[strspn(word, "0123456789")];
}

/* The types and orders that perf's -g takes. */
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

/* Joins "-n 20" and "-g caller" into one word each: getopt requires that of an optional argument.
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

/* Of the options that choose the event. */
static struct error *choose_event(struct report_options *options)
{
	const char *way = options->leaks ? "--leaks" : options->branches ? "--branches" : "-e";
	const char *event = options->leaks ? memory_event_name(MEMORY_INUSE_SPACE)
					   : cpu_record_name(CPU_BRANCHES);

	if (options->leaks + options->branches + !!options->selection.event > 1)
		return error_hint(
			error_new("%s and %s both choose the event", way,
				  options->leaks && options->branches ? "--branches" : "-e"),
			"%s shows %s", way, event);
	if (options->branches && options->input.logical)
		return error_new("--branches and --logical exclude each other");
	if (options->leaks || options->branches)
		options->selection.event = event;
	return NULL;
}

struct error *report_options_parse(struct report_options *options, int argc, char **argv,
				   bool *help)
{
	struct error *err;

	*options = (struct report_options){.input.shows_progress = true};
	join_words(&argc, argv, &options->joined);
	err = parse(options, argc, argv, help);
	if (err || *help)
		return err;
	err = choose_event(options);
	if (err)
		return err;
	if (!options->path)
		options->path = input_default();
	return options->path ? NULL
			     : error_hint(error_new("no file to report on"),
					  "prof record COMMAND writes prof.pb.gz; see prof report "
					  "--help");
}

void report_options_help(void)
{
	printf("Usage: prof report [FILE] [options]\n\n"
	       "Shows the hottest functions of a profile and the calls that lead to them. FILE is "
	       "a "
	       "profile\n(pprof, folded stacks, the text of perf script) or a perf.data file; - "
	       "reads stdin\n(default prof.pb.gz).\n\n");
	options_help(report_option_table, stdout);
}

void report_options_deinit(struct report_options *options)
{
	option_list_deinit(&options->ignored);
	option_list_deinit(&options->joined);
	option_list_deinit(&options->input.labels);
	selection_options_deinit(&options->selection);
}
