/*
 * prof top: shows live, or at a recorded time, where programs spend their time,
 * on a screen or as text.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/humanize.h"
#include "cmd/command.h"
#include "cmd/help.h"
#include "cmd/input/input.h"
#include "cmd/options/names_option.h"
#include "cmd/options/sampling_title.h"
#include "cmd/options/selection.h"
#include "cmd/options/symbol_entries.h"
#include "cmd/record/command_hint.h"
#include "cmd/record/record_messages.h"
#include "cmd/top/live_view.h"
#include "cmd/top/past_view.h"
#include "cmd/top/top_keys.h"
#include "cmd/top/top_screen.h"
#include "cmd/ui/message.h"
#include "cmd/ui/pager.h"
#include "cmd/ui/terminal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_DELAY_NS UINT64_C(2000000000)
/* The directory of the service (contrib/systemd). */
#define RECORDED_DIRECTORY "/var/lib/prof"

/* The rate per CPU. A view of the whole machine needs fewer samples than that
 * of one program. */
enum { SYSTEM_FREQUENCY_HZ = 99 };

struct top_options {
	const char *at; /* NULL for the live view */
	struct sampling_options sampling;
	uint64_t delay_ns;
	uint64_t refreshes; /* 0 for no limit */
	bool batch;
	struct symbol_options symbols;
	enum row_order sort;
	struct row_by by;
	struct names_option names;
	struct option_list labels; /* conditions */
	bool tree;
	enum logical_option logical;
	bool shows_idle;
	double least_share;
	const char *filter;
};

struct top_run {
	struct top_options options;
	struct live live;
	struct display *display;
	bool own_processes; /* because the whole machine cannot be sampled */
};

static struct error *top_take_sort(void *field, const char *argument)
{
	static const struct option_choice choices[] = {
		{"self", ROWS_BY_SELF}, {"total", ROWS_BY_TOTAL}, {0}};

	return error_hint(option_choice("sort key", choices, argument, field),
			  "--by function|module|process|thread chooses what a row is");
}

static struct error *top_take_min(void *field, const char *argument)
{
	double percent;
	struct error *err = option_percent(&percent, argument);

	if (!err)
		*(double *)field = percent / 100;
	return err;
}

#define FIELD(name) offsetof(struct top_options, name)

/* In perf top, -n shows numbers of samples, and -ns KEYS sorts, too. */
static struct error *top_take_iterations(void *field, const char *argument)
{
	return error_hint(
		option_count(field, argument),
		"-n N exits after N refreshes; --by process or --by module chooses what a "
		"row is");
}

static const struct option_entry option_table[] = {
	SAMPLING_TARGET_ENTRIES(struct top_options, sampling),
	SAMPLING_EVENT_ENTRIES(struct top_options, sampling,
			       "sample N times per second of CPU time; default 999, or 99 for the "
			       "whole machine"),
	OPTION_COMMON(
		INPUT, 0, "at", "TIME|TIME..TIME",
		"show a recorded time, such as 14:05 or -2h; a minute, or a range, of what prof "
		"record --every has recorded in DIRECTORY (default " RECORDED_DIRECTORY
		"): 14:05, 14:05..14:10, -2h",
		option_string, FIELD(at)),
	OPTION_ENTRY(SELECTION, 0, "filter", "REGEX",
		     "show only rows with a matching name or module", option_string, FIELD(filter)),
	SELECTION_LABEL_ENTRY(struct top_options, "label", "keep only samples", labels),
	LOGICAL_ENTRY(struct top_options, logical, LOGICAL_OF_TABLES),
	OPTION_ENTRY(SELECTION, 0, "idle", NULL,
		     "show idle time; off-CPU time of event loops, of parked threads and of accept",
		     option_true, FIELD(shows_idle)),
	OPTION_COMMON(
		VIEW, 0, "by", "function|module|process|thread|file|line|label:KEY",
		"choose what a row is (default function); KEY is comm, thread, pid, tid, cgroup or "
		"container",
		selection_take_by, FIELD(by)),
	OPTION_COMMON(VIEW, 0, "sort", "self|total", "choose the order of rows (default self)",
		      top_take_sort, FIELD(sort)),
	OPTION_COMMON(VIEW, 0, "tree", NULL, "show the call tree instead of a table", option_true,
		      FIELD(tree)),
	OPTION_ENTRY(VIEW, 0, "min", "PERCENT",
		     "omit calls, and rows of text, below this share (default 0.5)", top_take_min,
		     FIELD(least_share)),
	OPTION_COMMON(OUTPUT, 'b', "batch", NULL,
		      "print tables as text; default if stdout is not a terminal", option_true,
		      FIELD(batch)),
	NAMES_ENTRY(struct top_options, names, "short"),
	SYMBOL_ENTRIES(struct top_options, symbols),
	OPTION_COMMON(CONTROL, 'd', "delay", "SECONDS",
		      "refresh every SECONDS, at least 0.1 (default 2)", top_take_delay,
		      FIELD(delay_ns)),
	OPTION_ENTRY(CONTROL, 'n', "iterations", "N", "exit after N refreshes", top_take_iterations,
		     FIELD(refreshes)),
	{0},
};
#undef FIELD

static const char *top_event_name(const struct top_run *run, const struct profile *profile)
{
	event_id event = display_options(run->display)->event;

	return profile_string(profile, profile_get_event(profile, event)->name);
}

static void top_print_table(struct top_run *run, const struct profile *profile, const char *title)
{
	const size_t columns = pager_columns();
	CLEANUP(free_ptr) char *heading = NULL, *idle = NULL;

	display_update(run->display, profile);
	heading = display_heading(run->display, columns);
	idle = display_idle(run->display);
	printf("%s%s\n%s\n", title, idle, heading);
	for (size_t i = 0; i < display_count(run->display); i++) {
		CLEANUP(top_line_deinit) struct top_line line;

		display_line(run->display, i, columns, &line);
		printf("%s\n", line.text);
	}
	printf("\n");
	fflush(stdout);
}

static void print_live(struct top_run *run)
{
	const struct profile *profile = live_profile(&run->live);
	CLEANUP(free_ptr) char *summary = live_summary(&run->live);
	CLEANUP(free_ptr) char *load = live_load(&run->live);
	CLEANUP(free_ptr) char *times = live_times(&run->live);
	CLEANUP(free_ptr)
	char *title = xasprintf("%.1f s, %s%s%s: %s%s%s", recording_seconds(&run->live.recording),
				load ? load : "", load ? ", " : "", top_event_name(run, profile),
				summary, times ? ", " : "", times ? times : "");

	top_print_table(run, profile, title);
}

static struct error *show_as_text(struct top_run *run)
{
	struct live *live = &run->live;
	uint64_t left = run->options.refreshes ? run->options.refreshes : UINT64_MAX;
	uint64_t next_ns = clock_now_ns() + run->options.delay_ns;
	bool goes_on = true;

	while (goes_on && left) {
		goes_on = recording_run(&live->recording, next_ns);
		if (goes_on && clock_now_ns() < next_ns)
			continue;
		live_refresh(live);
		print_live(run);
		next_ns += run->options.delay_ns;
		left = ferror(stdout) ? 0 : left - 1;
	}
	if (!left)
		live->recording.end = RECORDING_OVER;
	return NULL;
}

static bool is_batch(const struct top_run *run)
{
	return run->options.batch || !terminal_is_possible();
}

/* Returns what the samples lack, or NULL. */
static const char *note_of(const struct top_run *run)
{
	const struct sampler_facts *facts = recorder_facts(run->live.recording.recorder);

	if (facts->kernel_excluded && !run->options.sampling.all_user)
		return "(user space only: see kernel.perf_event_paranoid)";
	return NULL;
}

static struct error *top_show(struct top_run *run)
{
	if (is_batch(run))
		return show_as_text(run);
	return top_screen_run(
		&run->live, run->display,
		&(struct top_screen_options){
			.delay_ns = run->options.delay_ns,
			.refreshes = run->options.refreshes,
			.target = run->own_processes ? "your processes" : run->live.recording.title,
			.note = note_of(run),
		});
}

/* Opens the recording. If no target was given and the whole machine cannot be
 * sampled, samples the user's processes. */
static struct error *top_open_recording(struct top_run *run, bool has_choice)
{
	struct recording *recording = &run->live.recording;
	struct sampling_options *sampling = &run->options.sampling;
	struct error *err = recording_open(recording, -1);

	if (!err || !has_choice || (error_number(err) != EACCES && error_number(err) != EPERM))
		return err;
	message("sampling only your processes: %s", error_text(err));
	error_free(err);
	sampling->system_wide = false;
	sampling->user = (struct user){.is_given = true, .id = geteuid()};
	run->own_processes = true;
	err = sampling_find_targets(sampling, true);
	sampling_targets_apply(sampling, &recording->config);
	return err ? err : recording_open(recording, -1);
}

static int sample(struct top_run *run, bool has_choice)
{
	struct recording *recording = &run->live.recording;
	struct error *err = recording_prepare(recording, is_batch(run) ? LAUNCH_STDOUT_TO_STDERR
								       : LAUNCH_OFF_TERMINAL);
	int status;

	if (!err)
		err = top_open_recording(run, has_choice);
	if (!err)
		err = command_hint(recording_start(recording), recording, "top");
	if (err)
		return message_failure_as(err, recording_failure_status(recording));
	live_open(&run->live);
	err = top_show(run);
	recording_stop_command(recording);
	if (err)
		message_error(err);
	status = recording->has_command ? recording_end_command(recording) : STATUS_OK;
	return err ? STATUS_FAILED : status;
}

/* Checks a label against those of the samples, or against labels of live
 * samples if there is no profile yet. */
static struct error *check_key(const char *key, const struct profile *profile)
{
	if (profile)
		return label_check_key(profile, key);
	if (label_is_well_known(key) || !strcmp(key, CGROUP_LABEL) || !strcmp(key, CONTAINER_LABEL))
		return NULL;
	return error_new("unknown label \"%s\" (" COMM_LABEL ", " THREAD_LABEL ", " PID_LABEL
			 ", " TID_LABEL ", " CGROUP_LABEL ", " CONTAINER_LABEL ")",
			 key);
}

static struct error *check_labels(const struct top_options *options, const struct profile *profile)
{
	struct error *err = options->by.key == ROW_LABEL ? check_key(options->by.label, profile)
							 : NULL;

	for (size_t i = 0; !err && i < options->labels.count; i++) {
		const char *condition = options->labels.items[i];
		CLEANUP(free_ptr) char *key = xstrndup(condition, strcspn(condition, "="));

		err = check_key(key, profile);
	}
	return err;
}

/* ---- A recorded time ---- */

static struct error *check_past(const struct top_run *run, char *const *operands)
{
	const struct sampling_options *sampling = &run->options.sampling;

	if (*operands && operands[1])
		return error_new("--at shows one directory, and \"%s\" follows it", operands[1]);
	if (!sampling_is_of_command(sampling) || sampling->events.count || sampling->frequency_hz ||
	    sampling->period)
		return error_hint(error_new("--at shows what was recorded, and samples nothing"),
				  "--label, --filter and the keys choose from it");
	return NULL;
}

static struct error *choose_from(struct top_run *run, const struct past *past)
{
	struct error *err = check_labels(&run->options, past->profile);

	if (!err)
		err = selection_find_event(run->options.sampling.shown_event, past->profile,
					   past->directory, &display_options(run->display)->event);
	if (!err && run->options.filter)
		err = display_set_filter(run->display, run->options.filter);
	return err;
}

static void print_past(struct top_run *run, const struct past *past)
{
	CLEANUP(free_ptr) char *words = past_words(past);
	struct sum sum = view_event_sum(past->profile, display_options(run->display)->event);
	CLEANUP(free_ptr)
	char *title = xasprintf("%s, %s: %s samples", words, top_event_name(run, past->profile),
				humanize_count(sum.samples).text);

	top_print_table(run, past->profile, title);
}

static int show_past(struct top_run *run, char *const *operands)
{
	const char *directory = *operands ? *operands : RECORDED_DIRECTORY;
	CLEANUP(past_close) struct past past = {0};
	struct error *err = check_past(run, operands);

	if (err)
		return message_failure(error_usage(err));
	err = past_open(&past, directory, run->options.at);
	if (!*operands)
		err = error_hint(err, "the service records there (systemctl enable --now prof); "
				      "another directory can be named");
	if (!err)
		err = choose_from(run, &past);
	if (!err && is_batch(run))
		print_past(run, &past);
	else if (!err)
		err = top_screen_show_past(&past, run->display, directory);
	return err ? message_failure(err) : STATUS_OK;
}

/* ---- Live ---- */

static int prepare_and_sample(struct top_run *run)
{
	struct sampling_options *sampling = &run->options.sampling;
	struct recording *recording = &run->live.recording;
	struct error *err = check_labels(&run->options, NULL);
	bool has_choice = !*recording->command && sampling_is_of_command(sampling);
	size_t event = 0;

	sampling_choose_events(sampling);
	if (!err)
		err = sampling_options_check(sampling);
	if (!err)
		err = waiting_check_command(&sampling->waiting, *recording->command);
	if (has_choice)
		sampling->system_wide = true;
	if (!err)
		err = sampling_find_targets(sampling, true);
	if (!err) {
		recording->title = sampling_title(sampling, recording->command, NULL);
		err = sampling_find_event(sampling, &event);
	}
	display_options(run->display)->event = (event_id)event;
	if (!err && run->options.filter)
		err = display_set_filter(run->display, run->options.filter);
	/*
	 * A wake-up costs more than a sample, and every machine has deep
	 * stacks. They are worth the cost only for a single program, as in prof
	 * record.
	 */
	recording->config.stacks.low_overhead = sampling->system_wide || sampling->cpus.count;
	if (!sampling->frequency_hz)
		sampling->frequency_hz = recording->config.stacks.low_overhead
						 ? SYSTEM_FREQUENCY_HZ
						 : RECORD_FREQUENCY_HZ;
	sampling_options_apply(sampling, &recording->config);
	recording->is_of_command = sampling_is_of_command(sampling);
	if (!err)
		err = recording_choose(recording);
	return err ? message_failure(error_usage(err)) : sample(run, has_choice);
}

static void top_run_deinit(struct top_run *run)
{
	display_free(run->display);
	live_close(&run->live);
	sampling_options_deinit(&run->options.sampling);
	option_list_deinit(&run->options.labels);
}

static void set_display(struct top_run *run)
{
	struct display_options *display;

	run->display = display_new();
	display = display_options(run->display);
	display->page = run->options.tree ? DISPLAY_CALLS : DISPLAY_TABLE;
	display->by = run->options.by;
	display->labels = (const char *const *)run->options.labels.items;
	display->label_count = run->options.labels.count;
	display->order = run->options.sort;
	display->logical = run->options.logical == LOGICAL_YES;
	display->may_turn_logical = run->options.logical == LOGICAL_DEFAULT;
	display->hides_idle = !run->options.shows_idle;
	display->names = names_option_style(&run->options.names, NAMES_SHORT);
	display->least_share = run->options.least_share;
	display->leaves_out = is_batch(run);
	display->symbols = run->options.symbols;
}

static int top_run(int argc, char **argv)
{
	CLEANUP(top_run_deinit)
	struct top_run run = {
		.options = {.delay_ns = DEFAULT_DELAY_NS, .least_share = 0.005},
	};
	int rest = argc;
	struct error *err;
	enum option_group help;

	sampling_options_init(&run.options.sampling);
	run.options.sampling.frequency_hz = 0;
	err = options_parse(option_table, argc, argv, &run.options, &rest, &help);
	if (err)
		return message_failure(error_usage(err));
	if (help)
		return help_print(&command_top, help);
	run.live.recording.command = argv + rest;
	run.live.recording.listener = record_messages(true, false);
	run.live.recording.config.output.debug_dir = run.options.symbols.debug_dir;
	run.live.symbols = run.options.symbols;
	set_display(&run);
	return run.options.at ? show_past(&run, argv + rest) : prepare_and_sample(&run);
}

const struct command command_top = {
	.name = "top",
	.summary = "show live, or at a recorded time, where programs spend their time",
	.usage = "[options]\n"
		 "[options] [--] COMMAND [ARGUMENTS]\n"
		 "[options] -p PID|-t TID|-a [-- COMMAND]\n"
		 "[options] --at TIME [DIRECTORY]",
	.description = "Shows live where programs spend their time: the whole machine, running "
		       "processes or a command; or a recorded time. Press ? for the keys.",
	.examples = "prof top\n"
		    "prof top -p 1234\n"
		    "prof top -- make -j8\n"
		    "prof top --at 14:05",
	.options = option_table,
	.operands = OPERANDS_COMMAND,
	.run = top_run,
};
