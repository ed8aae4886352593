/*
 * prof top: what is hot now, on a screen or as text.
 */
#include "base/alloc.h"
#include "cmd/command.h"
#include "cmd/figure.h"
#include "cmd/live.h"
#include "cmd/message.h"
#include "cmd/recorded_command.h"
#include "cmd/screen.h"
#include "cmd/terminal.h"
#include "cmd/top_screen.h"
#include "report/words.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_DELAY_NS UINT64_C(2000000000)

/* Of every CPU: a picture of the machine needs fewer samples than that of one program. */
enum { SYSTEM_FREQUENCY_HZ = 99 };

struct top_options {
	struct sampling_options sampling;
	uint64_t delay_ns;
	uint64_t tables; /* 0: no end */
	bool batch;
	bool no_inline;
	const char *debug_dir;
	enum top_order sort;
	enum top_key by;
	bool tree;
	double least_share;
	const char *filter;
};

struct run {
	struct top_options options;
	struct signals signals;
	struct live live;
	struct display *display;
	bool own_processes; /* for want of rights to the whole machine */
};

static struct error *take_sort(void *field, const char *argument)
{
	enum top_order *order = field;

	if (!strcmp(argument, "self"))
		*order = TOP_BY_SELF;
	else if (!strcmp(argument, "total"))
		*order = TOP_BY_TOTAL;
	else
		return error_new("\"%s\" is neither self nor total", argument);
	return NULL;
}

static struct error *take_by(void *field, const char *argument)
{
	for (enum top_key key = TOP_FUNCTION; key <= TOP_THREAD; key++) {
		if (!strcmp(argument, words_of_key(key))) {
			*(enum top_key *)field = key;
			return NULL;
		}
	}
	return error_hint(error_new("there is no table by \"%s\"", argument),
			  "function, file, line, module, process or thread");
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
	SAMPLING_TARGET_ENTRIES(struct top_options, sampling),
	ENTRY('d', "delay", "SECONDS", "between two pictures; 2 if not said", option_time,
	      delay_ns),
	ENTRY('b', "batch", NULL, "print tables as text, which it does without a terminal anyway",
	      option_true, batch),
	ENTRY('n', "iterations", "N", "end after so many pictures", option_count, tables),
	ENTRY(0, "by", "WHAT",
	      "a table of function (if not said), module, process, thread, file or line", take_by,
	      by),
	ENTRY(0, "tree", NULL, "the call tree instead of a table", option_true, tree),
	ENTRY(0, "sort", "KEY", "self (if not said) or total", take_sort, sort),
	ENTRY(0, "min", "PERCENT",
	      "leave out what has less of the samples: calls, and rows of text; 0.5 if not said",
	      take_min, least_share),
	ENTRY(0, "filter", "REGEX", "only functions whose name or module matches", option_string,
	      filter),
	SAMPLING_EVENT_ENTRIES(struct top_options, sampling,
			       "samples a second of CPU time; 999 if not said, and 99 of the whole "
			       "machine"),
	ENTRY(0, "no-inline", NULL,
	      "name functions by the symbol tables alone: no lines, nothing inlined", option_true,
	      no_inline),
	ENTRY(0, "debug-dir", "DIR", "where separate debug files are; /usr/lib/debug if not said",
	      option_string, debug_dir),
	{0},
};

static void print_help(void)
{
	printf("Usage: prof top [options]\n"
	       "       prof top [options] [--] COMMAND [ARGUMENTS]\n"
	       "       prof top [options] -p PID|-t TID|-a [-- COMMAND]\n\n"
	       "Shows where programs spend their time now: the whole machine, what runs already, "
	       "or "
	       "a\ncommand. ? shows its keys.\n\n");
	options_help(option_table, stdout);
}

static void print_table(struct run *run)
{
	const struct session_counts counts = live_counts(&run->live);
	const struct recording *recording = &run->live.recording;
	const struct profile *profile = live_profile(&run->live);
	const struct profile_event *event = profile_get_event(profile,
							      display_options(run->display)->event);
	const size_t columns = screen_columns();

	CLEANUP(free_ptr) char *heading = NULL;

	display_update(run->display, profile);
	heading = display_heading(run->display, columns);
	printf("%.1f s, %s: %s samples, %s lost\n%s\n",
	       (double)(recording->end_ns - recording->start_ns) / 1e9,
	       profile_string(profile, event->name), figure_count(counts.samples).text,
	       figure_count(counts.lost).text, heading);
	for (size_t i = 0; i < display_count(run->display); i++) {
		CLEANUP(display_line_deinit) struct display_line line;

		display_line(run->display, i, columns, &line);
		printf("%s\n", line.text);
	}
	printf("\n");
	fflush(stdout);
}

static struct error *show_as_text(struct run *run)
{
	struct live *live = &run->live;
	uint64_t left = run->options.tables ? run->options.tables : UINT64_MAX;
	uint64_t next_ns = live->recording.start_ns + run->options.delay_ns;
	bool goes_on = true;

	while (goes_on && left) {
		goes_on = recording_step(&live->recording, next_ns, -1);
		if (goes_on && live->recording.end_ns < next_ns)
			continue;
		live_refresh(live);
		print_table(run);
		next_ns += run->options.delay_ns;
		left = ferror(stdout) ? 0 : left - 1;
	}
	if (!left)
		live->recording.end = END_DURATION;
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

/* What the picture lacks; NULL: nothing. */
static const char *note_of(const struct run *run)
{
	const struct sampler_facts *facts = sampler_facts(run->live.recording.sampler);

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
				      .pictures = run->options.tables,
				      .target = target,
				      .note = note_of(run),
			      });
}

/* Where nothing was said, and the whole machine is not the user's to sample, what is. */
static struct error *open_recording(struct run *run, bool has_choice)
{
	struct recording *recording = &run->live.recording;
	struct sampling_options *sampling = &run->options.sampling;
	struct error *err = recording_open(recording);

	if (!err || !has_choice || (error_number(err) != EACCES && error_number(err) != EPERM))
		return err;
	message("your processes only: %s", error_text(err));
	error_free(err);
	sampling->system_wide = false;
	sampling->user = (struct user){.is_given = true, .id = geteuid()};
	run->own_processes = true;
	err = targets_find(sampling);
	return err ? err : recording_open(recording);
}

static int sample(struct run *run, bool has_choice)
{
	struct recording *recording = &run->live.recording;
	struct error *err = signals_open(&run->signals);
	int status;

	if (!err)
		err = recorded_command_prepare(recording, is_batch(run) ? LAUNCH_STDOUT_TO_STDERR
									: LAUNCH_OFF_TERMINAL);
	if (!err)
		err = open_recording(run, has_choice);
	if (!err)
		err = recording_start(recording);
	if (err)
		return message_failure(err,
				       recording->launch.refusal
					       ? launch_refusal_status(recording->launch.refusal)
					       : STATUS_FAILED);
	live_open(&run->live);
	err = show(run);
	recorded_command_stop(recording);
	if (err)
		message_error(err);
	status = recording->has_command ? recorded_command_end(recording) : STATUS_OK;
	return err ? STATUS_FAILED : status;
}

static int prepare_and_sample(struct run *run)
{
	struct sampling_options *sampling = &run->options.sampling;
	struct recording *recording = &run->live.recording;
	struct error *err = sampling_options_check(sampling);
	bool has_choice = !*recording->command && sampling_is_of_command(sampling);

	if (has_choice)
		sampling->system_wide = true;
	if (!err)
		err = targets_find(sampling);
	if (!err && run->options.filter)
		err = display_set_filter(run->display, run->options.filter);
	/* A wake-up costs more than a sample, and there are deep stacks on every machine. One
	 * program's are worth it, as in prof record. */
	if (sampling->system_wide || sampling->cpus.count)
		recording->is_leisurely = true;
	if (!sampling->rate.frequency_hz)
		sampling->rate.frequency_hz = sampling->system_wide || sampling->cpus.count
						      ? SYSTEM_FREQUENCY_HZ
						      : SAMPLING_FREQUENCY_HZ;
	sampling_options_settle(sampling, false);
	if (!err)
		err = recording_choose_events(recording);
	return err ? message_failure(err, STATUS_USAGE) : sample(run, has_choice);
}

static void run_deinit(struct run *run)
{
	display_free(run->display);
	live_close(&run->live);
	sampling_options_deinit(&run->options.sampling);
	signals_close(&run->signals);
}

static void set_display(struct run *run)
{
	struct display_options *display;

	run->display = display_new();
	display = display_options(run->display);
	display->page = run->options.tree ? DISPLAY_CALLS : DISPLAY_TABLE;
	display->by = run->options.by;
	display->order = run->options.sort;
	display->least_share = run->options.least_share;
	display->leaves_out = is_batch(run);
	display->debug_dir = run->options.debug_dir;
}

static int top_run(int argc, char **argv)
{
	CLEANUP(run_deinit)
	struct run run = {
		.options = {.delay_ns = DEFAULT_DELAY_NS,
			    .debug_dir = "/usr/lib/debug",
			    .least_share = 0.005},
		.signals.fd = -1,
	};
	int rest = argc;
	struct error *err;
	bool help;

	sampling_options_init(&run.options.sampling);
	run.options.sampling.rate.frequency_hz = 0;
	run.live.recording.options = &run.options.sampling;
	run.live.recording.signals = &run.signals;
	err = options_parse(option_table, argc, argv, &run.options, &rest, &help);
	if (err)
		return message_failure(err, STATUS_USAGE);
	if (help) {
		print_help();
		return STATUS_OK;
	}
	run.live.recording.command = argv + rest;
	run.live.debug_dir = run.options.debug_dir;
	run.live.no_inline = run.options.no_inline;
	set_display(&run);
	return prepare_and_sample(&run);
}

const struct command command_top = {
	.name = "top",
	.summary = "show what programs do now, live",
	.run = top_run,
};
