/*
 * prof report: shows the hottest functions of a profile and the calls that lead to them.
 */
#include "cmd/report/report.h"

#include "base/alloc.h"
#include "cmd/command.h"
#include "cmd/help.h"
#include "cmd/report/profile_header.h"
#include "cmd/ui/message.h"
#include "format/format.h"
#include "profile/memory_events.h"
#include "report/parallelism.h"
#include "report/waiting.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static struct error *choose_functions(struct report *report)
{
	const struct report_options *options = report->options;
	const char *name = options->callers ? options->callers : options->callees;
	uint32_t count;
	struct error *err;

	if (options->callers && options->callees && strcmp(options->callers, options->callees) != 0)
		return error_new("--callers and --callees must name the same function");
	err = view_functions(&report->view, name, &report->chosen, &count);
	if (!err && !count)
		err = error_hint(error_new("no function is called \"%s\"", name),
				 "prof report %s --min 0 lists all functions", report->path);
	return err;
}

/* There are few histogram buckets, and a missing one would look empty. */
static double row_percent(const struct report_options *options)
{
	if (options->has_min)
		return options->min_percent;
	return row_by_is_class(&options->by.row) ? 0 : 0.5;
}

static uint64_t weight_of_share(double percent, uint64_t whole)
{
	return (uint64_t)ceil(percent / 100 * (double)whole);
}

/* Returns the weight of the largest chosen function, which shares of callers
 * and callees are relative to. */
static uint64_t weight_of_chosen(const struct report *report)
{
	uint64_t most = 0;

	for (size_t i = 0; i < report->rows.count; i++) {
		const struct row *row = &report->rows.items[i];

		if (report->chosen[row->label] && row->total.weight > most)
			most = row->total.weight;
	}
	return most;
}

/* A reader without a minimum of his own sees the hot path first. */
static void make_call_tree(struct report *report)
{
	uint64_t whole = report->view.stacks[STACK_EMPTY].total.weight;

	pruned_tree_calls(&report->calls, &report->view, report->min_tree_weight);
	if (!report->options->has_min && !report->options->json)
		report->opens_hot_path = pruned_tree_open_hot_path(
			&report->calls, weight_of_share(REPORT_BRANCH_PERCENT, whole));
}

static struct error *make_trees(struct report *report)
{
	const struct report_options *options = report->options;
	/* A tree has more lines than a table. */
	double percent = options->has_min ? options->min_percent : 1;
	struct error *err = NULL;

	report->min_tree_percent = percent;
	if (!options->callers && !options->callees) {
		report->min_tree_weight =
			weight_of_share(percent, report->view.stacks[STACK_EMPTY].total.weight);
		if (!options->no_tree)
			make_call_tree(report);
		return NULL;
	}
	err = choose_functions(report);
	if (err)
		return err;
	report->min_tree_weight = weight_of_share(percent, weight_of_chosen(report));
	if (options->callers)
		pruned_tree_callers(&report->callers, &report->view, report->chosen,
				    report->min_tree_weight);
	if (options->callees)
		pruned_tree_callees(&report->callees, &report->view, report->chosen,
				    report->min_tree_weight);
	return NULL;
}

static enum name_style report_names_of(const struct report_options *options)
{
	return names_option_style(&options->names, options->json ? NAMES_FULL : NAMES_SHORT);
}

uint64_t report_polls(const struct report *report, const char *task)
{
	const struct profile *profile = report->profile;

	for (uint32_t i = 0; i < profile_polls_count(profile); i++) {
		const struct profile_polls *polls = profile_get_polls(profile, i);

		if (!strcmp(profile_string(profile, polls->task), task))
			return polls->polls;
	}
	return 0;
}

/* Must run before the code of runtimes is folded, which shows where tasks
 * start. */
static struct error *find_blocked_tasks(struct report *report)
{
	struct selection_options selection = report->options->selection;
	const struct profile *profile = report->input->profile;
	struct view waiting;
	event_id event;
	struct error *err;

	if (!row_by_is_task(&report->options->by.row) || !waiting_event(profile, &event))
		return NULL;
	selection.event = VALUE_OFF_CPU_EVENT;
	err = selection_view(&selection, profile, report->path, report_names_of(report->options),
			     &waiting);
	if (err)
		return err;
	report->has_waiting = true;
	blocked_tasks_init(&report->blocked, &waiting);
	view_deinit(&waiting);
	return NULL;
}

/* Makes a view of another event that selects the same samples. */
static struct error *view_of_event(const struct report *report, event_id event, struct view *ret)
{
	struct selection_options selection = report->options->selection;

	selection.event = profile_string(report->profile,
					 profile_get_event(report->profile, event)->name);
	return selection_view(&selection, report->profile, report->path,
			      report_names_of(report->options), ret);
}

static struct error *make_ipc(struct report *report)
{
	struct view other;
	event_id event;
	struct error *err;

	if (!ipc_counterpart(report->profile, report->view.event, &event))
		return NULL;
	err = view_of_event(report, event, &other);
	return err ? err : ipc_init(&report->ipc, &other, &report->by);
}

static struct error *make_elapsed(struct report *report)
{
	struct view elapsed;
	event_id event;
	struct error *err;

	if (!parallelism_goes_with(report->profile, report->view.event, &event))
		return NULL;
	err = view_of_event(report, event, &elapsed);
	return err ? err : event_rows_init(&report->elapsed, &elapsed, &report->by);
}

/*
 * Returns whether the report may hide what most readers do not look for. A
 * reader who names functions sees all of them, and so does a program.
 */
static bool is_simplified(const struct report_options *options)
{
	const struct view_options *view = &options->selection.view;

	return !options->json && !options->branches && !options->callers && !options->callees &&
	       !view->focus && !view->ignore;
}

static struct error *make_report(struct report *report)
{
	const struct report_options *options = report->options;
	struct selection_options selection = options->selection;
	struct error *err = options->leaks ? leaks_check(report->profile, report->path)
			    : options->branches
				    ? report_branches_check(report->profile, report->path)
				    : NULL;

	selection.view.hides_idle = !options->shows_idle && is_simplified(options);
	if (!err)
		err = selection_view(&selection, report->profile, report->path,
				     report_names_of(options), &report->view);
	if (!err && options->leaks)
		err = leaks_init(&report->leaks, &report->view, &options->selection, report->path,
				 report_names_of(options));
	if (err)
		return err;
	report->min_weight = weight_of_share(row_percent(options),
					     report->view.stacks[STACK_EMPTY].total.weight);
	if (options->branches) {
		branch_rows_init(&report->branches, &report->view);
		return NULL;
	}
	report->by = options->callers || options->callees ? (struct row_by){.key = ROW_FUNCTION}
							  : options->by.row;
	err = rows_init_by(&report->rows, &report->view, &report->by);
	if (err)
		return err;
	if (options->leaks)
		err = leaks_add_rows(&report->leaks, &report->by);
	if (!err)
		err = make_ipc(report);
	if (!err)
		err = make_elapsed(report);
	if (err)
		return err;
	report->latency = latency_sums_of(&report->view);
	rows_sort(&report->rows, row_by_is_class(&report->by) && !options->by.has_order
					 ? ROWS_BY_CLASS
					 : options->by.order);
	report->has_polls = row_by_is_task(&report->by) && report->view.event == 0 &&
			    profile_polls_count(report->profile) &&
			    !selection_is_part(&options->selection);
	return make_trees(report);
}

/* Prints how much the default view folds, and the switch. */
static void put_folded(const struct report *report, const struct table_writer *writer)
{
	if (report->folded.glue > 0)
		fprintf(writer->out,
			"logical view: %.0f of %.0f frames per stack folded; --logical=no shows "
			"them\n",
			report->folded.glue, report->folded.lines);
}

/* Prints how much idle time is hidden, and the switch. */
static void report_put_idle(const struct report *report, const struct table_writer *writer)
{
	uint64_t hidden = report->view.idle_sum.weight;

	if (hidden)
		fprintf(writer->out, "idle: %s of waiting for work hidden; --idle shows it\n",
			profile_humanize_weight(report->profile, report->view.event, hidden).text);
}

static bool is_of_inuse(const struct report *report)
{
	enum memory_event shown;
	event_id allocated;

	return memory_event_of(report->profile, report->view.event, &shown) &&
	       shown >= MEMORY_INUSE_OBJECTS && !selection_is_part(&report->options->selection) &&
	       memory_event_find(report->profile, MEMORY_ALLOC_SPACE, &allocated);
}

static void report_put_ipc(const struct report *report, const struct table_writer *writer)
{
	double ipc;

	if (ipc_of_all(&report->ipc, &report->rows, &ipc))
		fprintf(writer->out, "instructions per cycle: %.2f\n", ipc);
}

struct branches_shown report_branches_shown(const struct report *report)
{
	enum { REPORT_DEFAULT_ROWS = 20 };
	const struct report_options *options = report->options;

	return (struct branches_shown){
		.least_taken = report->min_weight,
		.limit = options->limit	 ? options->limit
			 : options->json ? UINT64_MAX
					 : REPORT_DEFAULT_ROWS,
	};
}

static void report_show_text(const struct report *report, const struct table_writer *writer)
{
	profile_header(writer, report->path, &report->options->selection);
	if (report->options->branches) {
		report_branches_text(&report->branches, report_branches_shown(report), writer);
		return;
	}
	report_put_ipc(report, writer);
	if (report->options->leaks)
		leaks_header(&report->leaks, writer);
	if (!report->view.stacks[STACK_EMPTY].total.weight) {
		if (!report->options->leaks)
			fputs(is_of_inuse(report) ? "\nnothing was in use at the end; -e "
						    "alloc_space shows what was allocated\n"
						  : "\nno samples\n",
			      writer->out);
		return;
	}
	put_folded(report, writer);
	report_put_idle(report, writer);
	report_table(report, writer);
	report_latency(report, writer);
	report_blocked_tasks(report, writer);
	report_tree(report, writer, &report->calls, "calls");
	report_tree(report, writer, &report->callers, "callers");
	report_tree(report, writer, &report->callees, "callees");
}

static struct error *report_show(const struct report *report)
{
	struct pager pager;
	struct error *err;

	if (report->options->json) {
		report_json(report, stdout);
		return NULL;
	}
	pager_open(&pager, &report->options->pager);
	report_show_text(report, &(struct table_writer){
					 .pager = &pager, .out = pager.out, .view = &report->view});
	err = pager_show(&pager);
	pager_close(&pager);
	return err;
}

static void report_deinit(struct report *report)
{
	rows_deinit(&report->rows);
	pruned_tree_deinit(&report->calls);
	pruned_tree_deinit(&report->callers);
	pruned_tree_deinit(&report->callees);
	free(report->chosen);
	blocked_tasks_deinit(&report->blocked);
	leaks_deinit(&report->leaks);
	branch_rows_deinit(&report->branches);
	ipc_deinit(&report->ipc);
	event_rows_deinit(&report->elapsed);
	view_deinit(&report->view);
}

static void choose_logical(struct report *report, struct input *input)
{
	if (report->options->input.logical == LOGICAL_DEFAULT && is_simplified(report->options)) {
		struct glue_share share = glue_share_of(input->profile);

		if (glue_share_is_most(&share))
			report->folded = share;
	}
	if (report->options->input.logical == LOGICAL_YES || report->folded.glue > 0)
		input_make_logical(input);
}

/* Prints to the standard output without a pager, like --json. */
static struct error *report_summary(const struct report *report)
{
	const struct selection_options *selection = &report->options->selection;
	struct view_options view = selection->view;
	struct format_options options = {
		.summary = {report->options->summary_lines, report->path, &view}};
	struct error *err = selection_find_event(selection->event, report->input->profile,
						 report->path, &options.event);

	view.labels = (const char *const *)selection->labels.items;
	view.label_count = selection->labels.count;
	return err ? err : format_summary.write(report->input->profile, &options, stdout);
}

static int report_on(const struct report_options *options, const char *path)
{
	CLEANUP(input_deinit) struct input input = {0};
	CLEANUP(report_deinit)
	struct report report = {.options = options, .path = path, .input = &input};
	struct error *err = input_read(path, &options->input, &input);

	if (!err && options->summary) {
		err = report_summary(&report);
		return err ? message_failure(err) : STATUS_OK;
	}
	if (!err)
		err = find_blocked_tasks(&report);
	if (!err) {
		choose_logical(&report, &input);
		report.profile = input.profile;
		err = make_report(&report);
	}
	if (!err)
		err = report_show(&report);
	return err ? message_failure(err) : STATUS_OK;
}

static int report_run(int argc, char **argv)
{
	CLEANUP(report_options_deinit) struct report_options options;
	enum option_group help = GROUP_NONE;
	struct error *err = report_options_parse(&options, argc, argv, &help);

	if (err)
		return message_failure(error_usage(err));
	return help ? help_print(&command_report, help) : report_on(&options, options.path);
}

const struct command command_report = {
	.name = "report",
	.summary = "show the hottest functions and call paths of a profile",
	.usage = "[FILE] [options]",
	.description = "Shows the hottest functions of a profile and the calls that lead to them. "
		       "FILE is a profile (pprof, folded stacks, perf script text, heap files), a "
		       "perf.data file or a directory of prof record --every; - is stdin (default "
		       "prof.pb.gz, else perf.data).",
	.examples = "prof report --callers malloc\n"
		    "prof report --by line --focus parse -n 40\n"
		    "prof report /var/log/prof --since 14:05 --until 14:07 --comm postgres\n"
		    "prof report --json | jq -r '.rows[] | [.self.samples, .name] | @tsv'",
	.options = report_option_table,
	.run = report_run,
};
