/*
 * prof record: sample, unwind, name, write.
 */
#include "base/alloc.h"
#include "cmd/command.h"
#include "cmd/delivery.h"
#include "cmd/message.h"
#include "cmd/record_options.h"
#include "cmd/recorded_command.h"
#include "cmd/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/* How often the line of progress is written anew. */
#define PROGRESS_NS UINT64_C(1000000000)

struct run {
	struct record_options options;
	char **words; /* prof's own */
	int word_count;
	struct outputs outputs;
	struct signals signals;
	struct recording recording;
	uint64_t sampling_cpu_ns;
	bool is_poor; /* a condition of --fail-if is met */
	pid_t writer; /* writes what there was when SIGUSR2 came; 0: none */
};

static bool writes_to_stdout(const struct record_options *options)
{
	for (size_t i = 0; i < options->delivery.outputs.count; i++)
		if (output_is_stdout(options->delivery.outputs.items[i]))
			return true;
	return false;
}

static struct error *check_words(const struct run *run)
{
	if (sampling_is_of_command(&run->options.sampling) && !*run->recording.command)
		return error_hint(error_new("nothing to record"),
				  "prof record COMMAND, prof record -p PID or prof record -a; "
				  "prof record --help says more");
	return sampling_options_check(&run->options.sampling);
}

static void say_end(const struct recording *recording)
{
	double seconds = (double)(recording->end_ns - recording->start_ns) / 1e9;

	if (recording->end == END_TARGET)
		message("the target ended after %.1f s", seconds);
	else if (recording->end == END_DURATION && recording->has_command)
		message("stopped after %.1f s; the command gets SIGTERM", seconds);
}

/* Told even to who wants to hear nothing but errors: it is one. */
static void judge(struct run *run, const struct quality *quality)
{
	const struct condition_list *conditions = &run->options.conditions;

	for (size_t i = 0; i < conditions->count; i++) {
		const struct condition *condition = &conditions->items[i];
		double share;

		if (!quality_share(quality, condition->what, &share) || share <= condition->limit)
			continue;
		run->is_poor = true;
		message("%s: %.1f %% of the samples, which is more than %g %%", condition->what,
			share * 100, condition->limit * 100);
	}
}

static int finish(struct run *run)
{
	struct recording *recording = &run->recording;
	CLEANUP(free_ptr) char *command = delivery_command(run->words, run->word_count);
	CLEANUP(free_ptr) char *kernel = NULL;
	CLEANUP(completeness_deinit) struct completeness completeness = {0};
	struct utsname system;
	int status;

	uname(&system);
	kernel = xasprintf("%s %s %s", system.sysname, system.release, system.machine);
	if (!run->options.delivery.quiet)
		say_end(recording);
	profile_complete(
		&(struct completion){
			.session = recording->session,
			.profile = recording->profile,
			.spaces = recording->spaces,
			.signals = &run->signals,
			.debug_dir = run->options.delivery.debug_dir,
			.proc = "/proc",
			.inlines = !run->options.delivery.no_inline,
			.shows_progress = !run->options.delivery.quiet &&
					  !sampling_is_of_command(&run->options.sampling),
			.info = {.start_unix_ns = recording->start_unix_ns,
				 .start_ns = recording->start_ns,
				 .duration_ns = recording->end_ns - recording->start_ns,
				 .command = command,
				 .host = system.nodename,
				 .is_run = sampling_is_of_command(&run->options.sampling) &&
					   recording->end == END_COMMAND,
				 .kernel = kernel},
		},
		&completeness);
	status = deliver(&(struct delivery){
		.options = &run->options.delivery,
		.outputs = &run->outputs,
		.profile = recording->profile,
		.completeness = &completeness,
		.sampling_cpu_ns = run->sampling_cpu_ns,
	});
	judge(run, &completeness.quality);
	return status;
}

/* Those that came while recording: they wait for no names. */
static int finish_records(struct run *run)
{
	struct recording *recording = &run->recording;
	CLEANUP(free_ptr) char *command = delivery_command(run->words, run->word_count);
	struct error *err = raw_output_end(&recording->raw, recording->spaces, command);

	return err ? message_failure(err, STATUS_FAILED) : STATUS_OK;
}

/* Files of their own beside those that are written in the end; a pipe cannot be begun anew. */
static int write_files_so_far(struct run *run)
{
	struct outputs at_end = run->outputs;
	int status = STATUS_OK;

	run->outputs = (struct outputs){0};
	for (size_t i = 0; i < at_end.count && status == STATUS_OK; i++)
		if (at_end.items[i].is_file && at_end.items[i].format->write)
			status = outputs_add(&run->outputs, at_end.items[i].pattern,
					     run->options.delivery.format);
	run->recording.end_ns = sampler_now_ns();
	return status == STATUS_OK ? finish(run) : status;
}

/*
 * A copy of this process, which the kernel makes by sharing memory, names and writes; this one goes
 * on sampling.
 */
static void write_so_far(void *user)
{
	struct run *run = user;
	bool quiet = run->options.delivery.quiet;

	if (run->writer > 0 && waitpid(run->writer, NULL, WNOHANG) == 0) {
		if (!quiet)
			message("what there was is still being written");
		return;
	}
	run->writer = fork();
	if (run->writer == 0) {
		run->options.delivery.quiet = true;
		run->options.delivery.opens = false;
		_exit(write_files_so_far(run));
	}
	if (run->writer < 0)
		message_error(error_errno(errno, "write what there is so far"));
	else if (!quiet)
		message("writing what there is so far");
}

static struct error *open_all(struct run *run)
{
	struct error *err = signals_open(&run->signals);

	if (!err)
		err = recorded_command_prepare(&run->recording, writes_to_stdout(&run->options)
									? LAUNCH_STDOUT_TO_STDERR
									: LAUNCH_OUTPUT);
	if (!err)
		err = recording_open(&run->recording);
	return err;
}

/* Not where a command is recorded, which has the terminal for itself. */
static void show_progress(const struct run *run)
{
	const struct recording *recording = &run->recording;
	const struct session_counts *counts = session_counts(recording->session);

	if (!run->options.delivery.quiet && !sampling_is_of_command(&run->options.sampling))
		message_progress("recording: %.1f s, %" PRIu64 " samples, %" PRIu64 " lost",
				 (double)(recording->end_ns - recording->start_ns) / 1e9,
				 counts->samples, counts->lost);
}

static struct error *sample_until_end(struct run *run)
{
	struct recording *recording = &run->recording;
	struct error *err = recording_start(recording);
	uint64_t shown_ns = recording->start_ns;

	if (err)
		return err;
	while (recording_step(recording, shown_ns + PROGRESS_NS, -1)) {
		if (recording->end_ns - shown_ns < PROGRESS_NS)
			continue;
		shown_ns = recording->end_ns;
		show_progress(run);
	}
	message_progress_end();
	recording_stop(recording);
	return NULL;
}

/* What the command says comes first. */
static int status_of(struct run *run, int status)
{
	struct recording *recording = &run->recording;

	if (recording->has_command && status == STATUS_OK)
		status = recorded_command_end(recording);
	else if (recording->has_command)
		recorded_command_wait(recording);
	return status == STATUS_OK && run->is_poor ? STATUS_FAILED : status;
}

static int record(struct run *run)
{
	struct recording *recording = &run->recording;
	struct error *err = open_all(run);
	int records_status, status;

	if (!err)
		err = sample_until_end(run);
	if (err)
		return message_failure(err,
				       recording->launch.refusal
					       ? launch_refusal_status(recording->launch.refusal)
					       : STATUS_FAILED);
	run->sampling_cpu_ns = summary_cpu_ns();
	recorded_command_stop(recording);
	if (run->writer > 0)
		waitpid(run->writer, NULL, 0);
	records_status = finish_records(run);
	status = finish(run);
	if (status == STATUS_OK)
		status = records_status;
	return status_of(run, status);
}

static void say_what_is_passed_over(const struct record_options *options)
{
	CLEANUP(free_ptr) char *all = xstrdup("");

	for (size_t i = 0; i < options->without_meaning.count; i++) {
		char *more = xasprintf("%s%s%s", all, i ? ", " : "",
				       options->without_meaning.items[i]);

		free(all);
		all = more;
	}
	if (*all && !options->delivery.quiet)
		message("without a meaning here, and passed over: %s", all);
}

static int prepare_and_record(struct run *run)
{
	struct error *err = check_words(run);
	int status;

	if (!err)
		err = targets_find(&run->options.sampling);
	sampling_options_settle(&run->options.sampling, run->options.delivery.quiet);
	if (!err)
		err = recording_choose_events(&run->recording);
	if (err)
		return message_failure(err, STATUS_USAGE);
	status = outputs_open(&run->outputs, &run->options.delivery);
	if (status != STATUS_OK)
		return status;
	err = raw_output_find(&run->recording.raw, &run->outputs);
	if (err)
		return message_failure(err, STATUS_USAGE);
	say_what_is_passed_over(&run->options);
	run->recording.keeps_moments = outputs_want_moments(&run->outputs);
	return record(run);
}

static void run_deinit(struct run *run)
{
	recording_close(&run->recording);
	outputs_close(&run->outputs);
	record_options_deinit(&run->options);
	signals_close(&run->signals);
}

static int print_help(void)
{
	printf("Usage: prof record [options] [--] COMMAND [ARGUMENTS]\n"
	       "       prof record [options] -p PID|-t TID|-a [-- COMMAND]\n\n"
	       "Samples a program, or what runs already as long as COMMAND does, and writes where "
	       "the "
	       "time went.\n\n");
	options_help(record_option_table, stdout);
	delivery_help(true);
	return STATUS_OK;
}

static int record_run(int argc, char **argv)
{
	CLEANUP(run_deinit) struct run run = {.words = argv, .word_count = argc, .signals.fd = -1};
	bool help;
	int rest = argc;
	struct error *err;

	record_options_init(&run.options);
	run.recording.options = &run.options.sampling;
	run.recording.signals = &run.signals;
	run.recording.write_so_far = write_so_far;
	run.recording.user = &run;
	err = options_parse(record_option_table, argc, argv, &run.options, &rest, &help);
	if (err)
		return message_failure(err, STATUS_USAGE);
	if (help)
		return print_help();
	run.recording.quiet = run.options.delivery.quiet;
	run.recording.verbose = run.options.delivery.verbose;
	run.recording.delay_ns = run.options.delay_ns;
	run.recording.duration_ns = run.options.duration_ns;
	run.recording.command = argv + rest;
	return prepare_and_record(&run);
}

const struct command command_record = {
	.name = "record",
	.summary = "sample a program, unwind and name its stacks, write a profile",
	.run = record_run,
};
