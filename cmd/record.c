/*
 * prof record: sample, unwind, name, write.
 */
#include "base/alloc.h"
#include "cmd/command.h"
#include "cmd/message.h"
#include "cmd/naming.h"
#include "cmd/output.h"
#include "cmd/recording.h"
#include "cmd/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROGRESS_MS = 200 };

struct outputs {
	struct output *items;
	size_t count;
};

struct run {
	struct record_options options;
	char **words; /* prof's own */
	int word_count;
	struct outputs outputs;
	struct signals signals;
	struct recording recording;
};

static bool stdout_is_pipe(void)
{
	struct stat st;

	return fstat(STDOUT_FILENO, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* Without -o: down the pipe, or into the usual file. */
static void choose_outputs(struct record_options *options)
{
	if (options->outputs.count)
		return;
	if (stdout_is_pipe())
		error_free(option_append(&options->outputs, "-"));
	else
		error_free(option_append(&options->outputs, "prof.pb.gz"));
}

static bool writes_to_stdout(const struct record_options *options)
{
	for (size_t i = 0; i < options->outputs.count; i++)
		if (!strcmp(options->outputs.items[i], "-"))
			return true;
	return false;
}

static struct error *check_words(const struct run *run)
{
	const struct record_options *options = &run->options;
	int targets = (options->pids.count > 0) + (options->tids.count > 0) + options->system_wide;

	if (targets > 1)
		return error_new("-p, -t and -a exclude each other");
	if (recording_is_of_command(options) && !*run->recording.command)
		return error_hint(error_new("nothing to record"),
				  "prof record COMMAND, prof record -p PID or prof record -a; "
				  "prof record --help says more");
	if (options->all_user && options->all_kernel)
		return error_new("--all-user and --all-kernel leave nothing");
	return NULL;
}

static void cap_rate(struct record_options *options)
{
	uint64_t max_hz = event_max_frequency_hz();

	if (options->rate.max)
		options->rate.frequency_hz = max_hz ? max_hz : options->rate.frequency_hz;
	if (options->period || !max_hz || options->rate.frequency_hz <= max_hz)
		return;
	if (!options->quiet)
		message("%" PRIu64 " Hz is above the kernel's limit: sampling at %" PRIu64
			" Hz (kernel.perf_event_max_sample_rate)",
			options->rate.frequency_hz, max_hz);
	options->rate.frequency_hz = max_hz;
}

static int failed(struct error *err, int status)
{
	message_error(err);
	return status;
}

static int open_outputs(struct run *run)
{
	const struct option_list *paths = &run->options.outputs;

	run->outputs.items = xcalloc(paths->count, sizeof(*run->outputs.items));
	while (run->outputs.count < paths->count) {
		bool is_usage = false;
		struct error *err = output_open(paths->items[run->outputs.count],
						run->options.format,
						&run->outputs.items[run->outputs.count], &is_usage);

		if (err)
			return failed(err, is_usage ? STATUS_USAGE : STATUS_FAILED);
		run->outputs.count++;
	}
	return STATUS_OK;
}

static struct error *prepare_command(struct run *run)
{
	struct recording *recording = &run->recording;
	struct error *err;

	if (!*recording->command)
		return NULL;
	err = launch_prepare(recording->command, &run->signals, writes_to_stdout(&run->options),
			     &recording->launch);
	recording->has_command = !err;
	return err;
}

static char *words_in_a_line(char **words, int count)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fputs("prof", out);
	for (int i = 0; i < count; i++)
		fprintf(out, " %s", words[i]);
	fclose(out);
	return text;
}

static void describe(struct run *run)
{
	struct recording *recording = &run->recording;
	CLEANUP(free_ptr) char *command = words_in_a_line(run->words, run->word_count);
	CLEANUP(free_ptr)
	char *quality = summary_quality(recording->profile, session_counts(recording->session));
	CLEANUP(free_ptr) char *kernel = NULL;
	struct utsname system;

	uname(&system);
	kernel = xasprintf("%s %s %s", system.sysname, system.release, system.machine);
	profile_set_info(recording->profile,
			 &(struct profile_info){
				 .start_unix_ns = recording->start_unix_ns,
				 .duration_ns = recording->end_ns - recording->start_ns,
				 .command = command,
				 .host = system.nodename,
				 .kernel = kernel,
				 .quality = quality,
			 });
}

/* A signal cuts it short: addresses are written then, and the profile is not lost. */
static void name_frames(struct run *run, struct symbolize_outcome *ret)
{
	struct symbolize_options options = {
		.debug_dir = run->options.debug_dir,
		.proc = "/proc",
		.inlines = !run->options.no_inline,
	};
	struct naming *naming = naming_start(run->recording.profile, run->recording.spaces,
					     &options);
	struct pollfd fds[] = {{.fd = naming_fd(naming), .events = POLLIN},
			       {.fd = run->signals.fd, .events = POLLIN}};
	struct received_signal signal;

	while (!fds[0].revents && naming_fd(naming) >= 0) {
		poll(fds, ARRAY_SIZE(fds), PROGRESS_MS);
		if (fds[1].revents && signals_next(&run->signals, &signal))
			naming_cancel(naming);
		if (!run->options.quiet)
			message_progress("naming: %u units", naming_progress(naming));
	}
	if (!run->options.quiet)
		message_progress_end();
	naming_finish(naming, ret);
}

/* A failed output does not cost the others. */
static int write_outputs(struct run *run)
{
	int status = STATUS_OK;

	for (size_t i = 0; i < run->outputs.count; i++) {
		struct error *err = output_write(&run->outputs.items[i], run->recording.profile,
						 &run->options.format_options);

		if (err)
			status = failed(err, STATUS_FAILED);
	}
	return status;
}

static void say_end(const struct recording *recording)
{
	double seconds = (double)(recording->end_ns - recording->start_ns) / 1e9;

	if (recording->end == END_TARGET)
		message("the target ended after %.1f s", seconds);
	else if (recording->end == END_DURATION && recording->has_command)
		message("stopped after %.1f s; the command gets SIGTERM", seconds);
}

static int finish(struct run *run)
{
	struct recording *recording = &run->recording;
	struct symbolize_outcome naming = {0};
	int status;

	name_frames(run, &naming);
	describe(run);
	status = write_outputs(run);
	if (!run->options.quiet) {
		say_end(recording);
		summary_print(&(struct summary){
			.profile = recording->profile,
			.counts = session_counts(recording->session),
			.naming = &naming,
			.outputs = run->outputs.items,
			.output_count = status == STATUS_OK ? run->outputs.count : 0,
			.verbose = run->options.verbose,
		});
	}
	symbolize_outcome_deinit(&naming);
	return status;
}

/*
 * After a signal that the command caught or ignored it goes on, and prof waits for it as a shell
 * would; a further signal ends the wait.
 */
static void wait_for_command(struct run *run)
{
	struct pollfd fds[] = {{.fd = run->recording.launch.pidfd, .events = POLLIN},
			       {.fd = run->signals.fd, .events = POLLIN}};
	struct received_signal signal;

	for (;;) {
		poll(fds, ARRAY_SIZE(fds), -1);
		if (fds[0].revents)
			return;
		if (fds[1].revents && signals_next(&run->signals, &signal)) {
			if (!signal.by_terminal)
				kill(run->recording.launch.pid, signal.number);
			signals_die(signal.number);
		}
	}
}

/* What becomes of the command once the recording is over, and so of prof. */
static int end_command(struct run *run)
{
	struct recording *recording = &run->recording;
	int status;

	if (recording->end == END_SIGNAL)
		wait_for_command(run);
	status = launch_wait(&recording->launch);
	if (recording->end == END_TARGET || recording->end == END_DURATION)
		return STATUS_OK;
	if (WIFSIGNALED(status))
		signals_die(WTERMSIG(status));
	return WEXITSTATUS(status);
}

/* It is told at once; it need not wait until the profile is written. */
static void tell_command(const struct recording *recording)
{
	if (!recording->has_command)
		return;
	if (recording->end == END_TARGET || recording->end == END_DURATION)
		kill(recording->launch.pid, SIGTERM);
	else if (recording->end == END_SIGNAL && !recording->signal.by_terminal)
		kill(recording->launch.pid, recording->signal.number);
}

static int record(struct run *run)
{
	struct error *err = signals_open(&run->signals);
	int status;

	if (!err)
		err = prepare_command(run);
	if (!err)
		err = recording_open(&run->recording);
	if (err)
		return failed(err, STATUS_FAILED);
	err = recording_run(&run->recording);
	if (err) {
		status = error_number(err) ? launch_refusal_status(error_number(err))
					   : STATUS_FAILED;
		return failed(err, status);
	}
	tell_command(&run->recording);
	status = finish(run);
	if (status != STATUS_OK || !run->recording.has_command)
		return status;
	return end_command(run);
}

static int prepare_and_record(struct run *run)
{
	struct error *err = check_words(run);
	int status;

	if (err)
		return failed(err, STATUS_USAGE);
	for (size_t i = 0; i < run->options.without_meaning.count && !run->options.quiet; i++)
		message("%s has no meaning here and is passed over",
			run->options.without_meaning.items[i]);
	cap_rate(&run->options);
	choose_outputs(&run->options);
	status = open_outputs(run);
	return status == STATUS_OK ? record(run) : status;
}

static void run_deinit(struct run *run)
{
	recording_close(&run->recording);
	for (size_t i = 0; i < run->outputs.count; i++)
		output_discard(&run->outputs.items[i]);
	free(run->outputs.items);
	record_options_deinit(&run->options);
	close_fd(&run->signals.fd);
}

static int print_help(void)
{
	printf("Usage: prof record [options] [--] COMMAND [ARGUMENTS]\n"
	       "       prof record [options] -p PID|-t TID|-a [-- COMMAND]\n\n"
	       "Samples a program, or what runs already as long as COMMAND does, and writes where "
	       "the "
	       "time went.\n\n");
	options_help(record_option_table, stdout);
	printf("\nFormats, by the extension of FILE:\n");
	for (const struct format *const *format = formats; *format; format++)
		printf("  %-10s %s\n", (*format)->extensions[0], (*format)->summary);
	return STATUS_OK;
}

static int record_run(int argc, char **argv)
{
	CLEANUP(run_deinit) struct run run = {.words = argv, .word_count = argc, .signals.fd = -1};
	bool help;
	int rest = argc;
	struct error *err;

	record_options_init(&run.options);
	run.recording.options = &run.options;
	run.recording.signals = &run.signals;
	err = options_parse(record_option_table, argc, argv, &run.options, &rest, &help);
	if (err)
		return failed(error_hint(err, "prof record --help lists the options"),
			      STATUS_USAGE);
	if (help)
		return print_help();
	run.recording.command = argv + rest;
	return prepare_and_record(&run);
}

const struct command command_record = {
	.name = "record",
	.summary = "sample a program, unwind and name its stacks, write a profile",
	.run = record_run,
};
