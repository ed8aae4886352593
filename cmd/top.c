/*
 * prof top: shows live, or of a recorded time, where programs spend their time, on a screen or as
 * text.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/humanize.h"
#include "cmd/command.h"
#include "cmd/live_view.h"
#include "cmd/names_option.h"
#include "cmd/past_view.h"
#include "cmd/record_messages.h"
#include "cmd/sampling_options.h"
#include "cmd/selection.h"
#include "cmd/symbol_entries.h"
#include "cmd/top_keys.h"
#include "cmd/top_screen.h"
#include "cmd/ui/message.h"
#include "cmd/ui/pager.h"
#include "cmd/ui/terminal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_DELAY_NS UINT64_C(2000000000)
/* What the service records (contrib/systemd). */
#define RECORDED_DIRECTORY "/var/lib/prof"

/* Per CPU. A view of the whole machine needs fewer samples than that of one program. */
enum { SYSTEM_FREQUENCY_HZ = 99 };

struct top_options {
	const char *at; /* NULL: now */
	struct sampling_options sampling;
	uint64_t delay_ns;
	uint64_t refreshes; /* 0: no limit */
	bool batch;
	struct symbol_options symbols;
	enum row_order sort;
	struct row_by by;
	struct names_option names;
	struct option_list labels; /* conditions */
	bool tree, logical;
	double least_share;
	const char *filter;
};

struct run {
	struct top_options options;
	struct live live;
	struct display *display;
	bool own_processes; /* because the whole machine may not be sampled */
};

static struct error *take_sort(void *field, const char *argument)
{
	static const struct option_choice choices[] = {
		{"self", ROWS_BY_SELF}, {"total", ROWS_BY_TOTAL}, {0}};

	return option_choice("sort key", choices, argument, field);
}

static struct error *take_min(void *field, const char *argument)
{
	double percent;
	struct error *err = option_percent(&percent, argument);

	if (!err)
		*(double *)field = percent / 100;
	return err;
}

#define ENTRY(letter, name, argument, help, take, field)                                           \
	OPTION_ENTRY(letter, name, argument, help, take, offsetof(struct top_options, field))

static const struct option_entry option_table[] = {
	ENTRY(0, "at", "TIME|TIME..TIME",
	      "show a minute, or a range, of what prof record --every has recorded in DIRECTORY "
	      "(default " RECORDED_DIRECTORY "): 14:05, 14:05..14:10, -2h",
	      option_string, at),
	SAMPLING_TARGET_ENTRIES(struct top_options, sampling),
	ENTRY('d', "delay", "SECONDS", "refresh interval, at least 0.1 (default 2)", top_take_delay,
	      delay_ns),
	ENTRY('b', "batch", NULL, "print tables as text (default if stdout is not a terminal)",
	      option_true, batch),
	ENTRY('n', "iterations", "N", "exit after N refreshes", option_count, refreshes),
	ENTRY(0, "by", "function|module|process|thread|file|line|label:KEY",
	      "show a row per function (default), module, process, thread, file, line or label:KEY "
	      "(comm, thread, pid, tid, cgroup, container)",
	      selection_take_by, by),
	ENTRY(0, "tree", NULL, "show the call tree instead of a table", option_true, tree),
	ENTRY(0, "logical", NULL,
	      "fold code of runtimes (tokio, rayon, std, Go) into the program's functions that it "
	      "calls",
	      option_true, logical),
	ENTRY(0, "sort", "self|total", "sort by self or total (default self)", take_sort, sort),
	ENTRY(0, "min", "PERCENT",
	      "leave out calls, and rows of text, below this share of the samples (default 0.5)",
	      take_min, least_share),
	ENTRY(0, "filter", "REGEX", "show only rows whose name, or module, matches", option_string,
	      filter),
	ENTRY(0, "label", "KEY[=GLOB]", SELECTION_LABEL_HELP, option_append, labels),
	NAMES_ENTRY(struct top_options, names, "short"),
	SAMPLING_EVENT_ENTRIES(struct top_options, sampling,
			       "sample N times per second of CPU time (default 999; 99 for the "
			       "whole machine)"),
	SYMBOL_ENTRIES(struct top_options, symbols),
	{0},
};

static void print_help(void)
{
	printf("Usage: prof top [options]\n"
	       "       prof top [options] [--] COMMAND [ARGUMENTS]\n"
	       "       prof top [options] -p PID|-t TID|-a [-- COMMAND]\n"
	       "       prof top [options] --at TIME [DIRECTORY]\n\n"
	       "Shows live where programs spend their time: the whole machine, running processes, "
	       "or a\ncommand; or where they did at a time that was recorded. Press ? for the "
	       "keys.\n\n");
	options_help(option_table, stdout);
}

static const char *event_name(const struct run *run, const struct profile *profile)
{
	event_id event = display_options(run->display)->event;

	return profile_string(profile, profile_get_event(profile, event)->name);
}

static void print_table(struct run *run, const struct profile *profile, const char *title)
{
	const size_t columns = pager_columns();
	CLEANUP(free_ptr) char *heading = NULL;

	display_update(run->display, profile);
	heading = display_heading(run->display, columns);
	printf("%s\n%s\n", title, heading);
	for (size_t i = 0; i < display_count(run->display); i++) {
		CLEANUP(top_line_deinit) struct top_line line;

		display_line(run->display, i, columns, &line);
		printf("%s\n", line.text);
	}
	printf("\n");
	fflush(stdout);
}

static void print_live(struct run *run)
{
	const struct profile *profile = live_profile(&run->live);
	CLEANUP(free_ptr) char *summary = live_summary(&run->live);
	CLEANUP(free_ptr) char *times = live_times(&run->live);
	CLEANUP(free_ptr)
	char *title = xasprintf("%.1f s, %s: %s%s%s", recording_seconds(&run->live.recording),
				event_name(run, profile), summary, times ? ", " : "",
				times ? times : "");

	print_table(run, profile, title);
}

static struct error *show_as_text(struct run *run)
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

static bool is_batch(const struct run *run)
{
	return run->options.batch || !terminal_is_possible();
}

/* To be freed. */
static char *target_of(const struct run *run)
{
	const struct sampling_options *sampling = &run->options.sampling;

	if (run->own_processes)
		return xstrdup("your processes");
	if (sampling->user.is_given)
		return xasprintf("processes of user %u", (unsigned)sampling->user.id);
	if (target_is_chosen(&sampling->target))
		return target_text(&sampling->target);
	if (sampling->pids.count == 1)
		return xasprintf("process %d", sampling->pids.items[0]);
	if (sampling->pids.count)
		return xasprintf("%zu processes", sampling->pids.count);
	if (sampling->tids.count)
		return xasprintf("%zu thread%s", sampling->tids.count,
				 sampling->tids.count > 1 ? "s" : "");
	if (sampling_is_of_command(sampling))
		return xstrdup(basename(run->live.recording.command[0]));
	return sampling->cpus.count ? xasprintf("%zu CPU%s", sampling->cpus.count,
						sampling->cpus.count > 1 ? "s" : "")
				    : xstrdup("the whole machine");
}

/* What is missing from the samples; NULL: nothing. */
static const char *note_of(const struct run *run)
{
	const struct sampler_facts *facts = recorder_facts(run->live.recording.recorder);

	if (facts->kernel_excluded && !run->options.sampling.all_user)
		return "(user space only: see kernel.perf_event_paranoid)";
	return NULL;
}

static struct error *show(struct run *run)
{
	CLEANUP(free_ptr) char *target = target_of(run);

	if (is_batch(run))
		return show_as_text(run);
	return top_screen_run(&run->live, run->display,
			      &(struct top_screen_options){
				      .delay_ns = run->options.delay_ns,
				      .refreshes = run->options.refreshes,
				      .target = target,
				      .note = note_of(run),
			      });
}

/* Opens the recording. If no target was given and the whole machine may not be sampled, it samples
 * the processes of the user. */
static struct error *open_recording(struct run *run, bool has_choice)
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

static int sample(struct run *run, bool has_choice)
{
	struct recording *recording = &run->live.recording;
	struct error *err = recording_prepare(recording, is_batch(run) ? LAUNCH_STDOUT_TO_STDERR
								       : LAUNCH_OFF_TERMINAL);
	int status;

	if (!err)
		err = open_recording(run, has_choice);
	if (!err)
		err = recording_start(recording);
	if (err)
		return message_failure(err, recording_failure_status(recording));
	live_open(&run->live);
	err = show(run);
	recording_stop_command(recording);
	if (err)
		message_error(err);
	status = recording->has_command ? recording_end_command(recording) : STATUS_OK;
	return err ? STATUS_FAILED : status;
}

/* The labels of samples; of live ones if there is no profile yet. */
static struct error *check_key(const char *key, const struct profile *profile)
{
	if (profile)
		return label_check_key(profile, key);
	if (label_is_well_known(key) || !strcmp(key, "cgroup") || !strcmp(key, "container"))
		return NULL;
	return error_new("unknown label \"%s\" (comm, thread, pid, tid, cgroup, container)", key);
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

static struct error *check_past(const struct run *run, char *const *operands)
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

static struct error *choose_from(struct run *run, const struct past *past)
{
	struct error *err = check_labels(&run->options, past->profile);

	if (!err)
		err = selection_find_event(run->options.sampling.shown_event, past->profile,
					   past->directory, &display_options(run->display)->event);
	if (!err && run->options.filter)
		err = display_set_filter(run->display, run->options.filter);
	return err;
}

static void print_past(struct run *run, const struct past *past)
{
	CLEANUP(free_ptr) char *words = past_words(past);
	struct sum sum = view_event_sum(past->profile, display_options(run->display)->event);
	CLEANUP(free_ptr)
	char *title = xasprintf("%s, %s: %s samples", words, event_name(run, past->profile),
				humanize_count(sum.samples).text);

	print_table(run, past->profile, title);
}

static int show_past(struct run *run, char *const *operands)
{
	const char *directory = *operands ? *operands : RECORDED_DIRECTORY;
	CLEANUP(past_close) struct past past = {0};
	struct error *err = check_past(run, operands);

	if (err)
		return message_failure(err, STATUS_USAGE);
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
	return err ? message_failure(err, STATUS_FAILED) : STATUS_OK;
}

/* ---- Live ---- */

static int prepare_and_sample(struct run *run)
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
	if (!err)
		err = sampling_find_event(sampling, &event);
	display_options(run->display)->event = (event_id)event;
	if (!err && run->options.filter)
		err = display_set_filter(run->display, run->options.filter);
	/* A wake-up costs more than a sample, and there are deep stacks on every machine. One
	 * program's are worth it, as in prof record. */
	recording->config.low_overhead = sampling->system_wide || sampling->cpus.count;
	if (!sampling->frequency_hz)
		sampling->frequency_hz = recording->config.low_overhead ? SYSTEM_FREQUENCY_HZ
									: RECORD_FREQUENCY_HZ;
	sampling_options_apply(sampling, &recording->config);
	recording->is_of_command = sampling_is_of_command(sampling);
	if (!err)
		err = recording_choose(recording);
	return err ? message_failure(err, STATUS_USAGE) : sample(run, has_choice);
}

static void run_deinit(struct run *run)
{
	display_free(run->display);
	live_close(&run->live);
	sampling_options_deinit(&run->options.sampling);
	option_list_deinit(&run->options.labels);
}

static void set_display(struct run *run)
{
	struct display_options *display;

	run->display = display_new();
	display = display_options(run->display);
	display->page = run->options.tree ? DISPLAY_CALLS : DISPLAY_TABLE;
	display->by = run->options.by;
	display->labels = (const char *const *)run->options.labels.items;
	display->label_count = run->options.labels.count;
	display->order = run->options.sort;
	display->logical = run->options.logical;
	display->names = names_option_style(&run->options.names, NAMES_SHORT);
	display->least_share = run->options.least_share;
	display->leaves_out = is_batch(run);
	display->symbols = run->options.symbols;
}

static int top_run(int argc, char **argv)
{
	CLEANUP(run_deinit)
	struct run run = {
		.options = {.delay_ns = DEFAULT_DELAY_NS, .least_share = 0.005},
	};
	int rest = argc;
	struct error *err;
	bool help;

	sampling_options_init(&run.options.sampling);
	run.options.sampling.frequency_hz = 0;
	err = options_parse(option_table, argc, argv, &run.options, &rest, &help);
	if (err)
		return message_failure(err, STATUS_USAGE);
	if (help) {
		print_help();
		return STATUS_OK;
	}
	run.live.recording.command = argv + rest;
	run.live.recording.listener = record_messages(true, false);
	run.live.recording.config.debug_dir = run.options.symbols.debug_dir;
	run.live.symbols = run.options.symbols;
	set_display(&run);
	return run.options.at ? show_past(&run, argv + rest) : prepare_and_sample(&run);
}

const struct command command_top = {
	.name = "top",
	.summary = "show live, or at a recorded time, where programs spend their time",
	.options = option_table,
	.operands = OPERANDS_COMMAND,
	.run = top_run,
};
