/*
 * prof report: shows the hottest functions of a profile and the calls that lead to them.
 */
#include "cmd/report.h"

#include "base/alloc.h"
#include "cmd/command.h"
#include "cmd/profile_header.h"
#include "cmd/ui/message.h"
#include "profile/memory_events.h"
#include "report/logical.h"
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

/* Classes are few, and in their order a gap would seem to be empty. */
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

/* The weight of the largest chosen function: shares of callers and callees are parts of it. */
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
			pruned_tree_calls(&report->calls, &report->view, report->min_tree_weight);
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

static enum name_style names_of(const struct report_options *options)
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

/* Before the code of runtimes is folded: it shows where tasks begin. */
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
	err = selection_view(&selection, profile, report->path, names_of(report->options),
			     &waiting);
	if (err)
		return err;
	report->has_waiting = true;
	blocked_tasks_init(&report->blocked, &waiting);
	view_deinit(&waiting);
	return NULL;
}

static struct error *make_ipc(struct report *report)
{
	struct selection_options selection = report->options->selection;
	struct view other;
	event_id event;
	struct error *err;

	if (!ipc_counterpart(report->profile, report->view.event, &event))
		return NULL;
	selection.event = profile_string(report->profile,
					 profile_get_event(report->profile, event)->name);
	err = selection_view(&selection, report->profile, report->path, names_of(report->options),
			     &other);
	return err ? err : ipc_init(&report->ipc, &other, &report->by);
}

static struct error *make_report(struct report *report)
{
	const struct report_options *options = report->options;
	struct error *err = options->leaks ? leaks_check(report->profile, report->path)
			    : options->branches
				    ? report_branches_check(report->profile, report->path)
				    : NULL;

	if (!err)
		err = selection_view(&options->selection, report->profile, report->path,
				     names_of(options), &report->view);
	if (!err && options->leaks)
		err = leaks_init(&report->leaks, &report->view, &options->selection, report->path,
				 names_of(options));
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

/* Where the logical view would show much less. */
static void put_hint(const struct report *report, const struct table_writer *writer)
{
	enum { LEAST_GLUE = 8 };
	struct glue_share share;

	if (report->options->input.logical)
		return;
	share = glue_of_hottest(&report->view);
	if (share.glue >= LEAST_GLUE && 2 * share.glue > share.lines)
		fprintf(writer->out,
			"%" PRIu32 " of %" PRIu32 " frames of the hottest stack are code of "
			"runtimes: prof report --logical folds it\n",
			share.glue, share.lines);
}

static bool is_of_inuse(const struct report *report)
{
	enum memory_event shown;
	event_id allocated;

	return memory_event_of(report->profile, report->view.event, &shown) &&
	       shown >= MEMORY_INUSE_OBJECTS && !selection_is_part(&report->options->selection) &&
	       memory_event_find(report->profile, MEMORY_ALLOC_SPACE, &allocated);
}

static void put_ipc(const struct report *report, const struct table_writer *writer)
{
	double ipc;

	if (ipc_of_all(&report->ipc, &report->rows, &ipc))
		fprintf(writer->out, "instructions per cycle: %.2f\n", ipc);
}

struct branches_shown report_branches_shown(const struct report *report)
{
	enum { DEFAULT_ROWS = 20 };
	const struct report_options *options = report->options;

	return (struct branches_shown){
		.least_taken = report->min_weight,
		.limit = options->limit	 ? options->limit
			 : options->json ? UINT64_MAX
					 : DEFAULT_ROWS,
	};
}

static void show_text(const struct report *report, const struct table_writer *writer)
{
	profile_header(writer, report->path, &report->options->selection);
	if (report->options->branches) {
		report_branches_text(&report->branches, report_branches_shown(report), writer);
		return;
	}
	put_ipc(report, writer);
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
	put_hint(report, writer);
	report_table(report, writer);
	report_latency(report, writer);
	report_blocked_tasks(report, writer);
	report_tree(report, writer, &report->calls, "calls");
	report_tree(report, writer, &report->callers, "callers");
	report_tree(report, writer, &report->callees, "callees");
}

static struct error *show(const struct report *report)
{
	struct pager pager;
	struct error *err;

	if (report->options->json) {
		report_json(report, stdout);
		return NULL;
	}
	pager_open(&pager, &report->options->pager);
	show_text(report,
		  &(struct table_writer){.pager = &pager, .out = pager.out, .view = &report->view});
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
	view_deinit(&report->view);
}

static int report_on(const struct report_options *options, const char *path)
{
	CLEANUP(input_deinit) struct input input = {0};
	CLEANUP(report_deinit)
	struct report report = {.options = options, .path = path, .input = &input};
	struct error *err = input_read(path, &options->input, &input);

	if (!err)
		err = find_blocked_tasks(&report);
	if (!err && options->input.logical)
		input_make_logical(&input);
	if (!err) {
		report.profile = input.profile;
		err = make_report(&report);
	}
	if (!err)
		err = show(&report);
	return err ? message_failure(err, STATUS_FAILED) : STATUS_OK;
}

static int report_run(int argc, char **argv)
{
	CLEANUP(report_options_deinit) struct report_options options;
	bool help = false;
	struct error *err = report_options_parse(&options, argc, argv, &help);

	if (err)
		return message_failure(err, STATUS_USAGE);
	if (!help)
		return report_on(&options, options.path);
	report_options_help();
	return STATUS_OK;
}

const struct command command_report = {
	.name = "report",
	.summary = "show the hottest functions of a profile and the calls that lead to them",
	.options = report_option_table,
	.run = report_run,
};
