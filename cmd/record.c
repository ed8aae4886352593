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

enum {
	PROGRESS_MS = 200,
	/* How long a command has to end by itself before a signal is passed on to it. */
	GRACE_MS = 1000,
};

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
	uint64_t sampling_cpu_ns;
	pid_t writer; /* writes what there was when SIGUSR2 came; 0: none */
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
		if (output_is_stdout(options->outputs.items[i]))
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

static int open_output(struct run *run, const char *path)
{
	struct output *output = &run->outputs.items[run->outputs.count];
	bool is_usage = false;
	struct error *err = output_open(path, run->options.format, output, &is_usage);

	if (err)
		return failed(err, is_usage ? STATUS_USAGE : STATUS_FAILED);
	run->outputs.count++;
	return STATUS_OK;
}

static int open_outputs(struct run *run)
{
	const struct option_list *paths = &run->options.outputs;
	int status = STATUS_OK;

	run->outputs.items = xcalloc(paths->count, sizeof(*run->outputs.items));
	for (size_t i = 0; i < paths->count && status == STATUS_OK; i++)
		status = open_output(run, paths->items[i]);
	return status;
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

static void describe(struct run *run, const struct quality *quality)
{
	struct recording *recording = &run->recording;
	CLEANUP(free_ptr) char *command = words_in_a_line(run->words, run->word_count);
	CLEANUP(free_ptr) char *line = quality_line(quality);
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
				 .quality = line,
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
		if (fds[1].revents && signals_next(&run->signals, &signal) &&
		    signal.number != SIGUSR2)
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
	struct quality quality;
	int status;

	session_finish(recording->session);
	name_frames(run, &naming);
	quality_init(&quality, recording->profile, session_counts(recording->session));
	describe(run, &quality);
	status = write_outputs(run);
	if (!run->options.quiet) {
		say_end(recording);
		summary_print(&(struct summary){
			.profile = recording->profile,
			.quality = &quality,
			.naming = &naming,
			.outputs = run->outputs.items,
			.output_count = run->outputs.count,
			.sampling_cpu_ns = run->sampling_cpu_ns,
			.verbose = run->options.verbose,
		});
	}
	quality_deinit(&quality);
	symbolize_outcome_deinit(&naming);
	return status;
}

/* Files of their own beside those that are written in the end; a pipe cannot be begun anew. */
static int write_files_so_far(struct run *run)
{
	struct outputs at_end = run->outputs;
	int status = STATUS_OK;

	run->outputs = (struct outputs){.items = xcalloc(at_end.count, sizeof(*at_end.items))};
	for (size_t i = 0; i < at_end.count && status == STATUS_OK; i++)
		if (at_end.items[i].is_file)
			status = open_output(run, at_end.items[i].pattern);
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
	bool quiet = run->options.quiet;

	if (run->writer > 0 && waitpid(run->writer, NULL, WNOHANG) == 0) {
		if (!quiet)
			message("what there was is still being written");
		return;
	}
	run->writer = fork();
	if (run->writer == 0) {
		run->options.quiet = true;
		_exit(write_files_so_far(run));
	}
	if (run->writer < 0)
		message_error(error_errno(errno, "write what there is so far"));
	else if (!quiet)
		message("writing what there is so far");
}

/*
 * After a signal the command may go on, to clean up or because it caught it; prof waits for it as a
 * shell would, and a further signal ends the wait. Whoever signalled prof by kill(2) has signalled
 * the command as well (timeout(1) does: the whole process group), or counts on prof to pass it on:
 * nothing tells, so it is passed on only to a command that has not ended soon.
 */
static int wait_for_command(struct run *run)
{
	struct recording *recording = &run->recording;
	struct pollfd fds[] = {{.fd = recording->launch.pidfd, .events = POLLIN},
			       {.fd = run->signals.fd, .events = POLLIN}};
	struct received_signal signal;
	int timeout_ms = GRACE_MS;

	while (!fds[0].revents) {
		if (poll(fds, ARRAY_SIZE(fds), timeout_ms) == 0) {
			timeout_ms = -1;
			if (recording->end == END_SIGNAL && !recording->signal.by_terminal)
				kill(recording->launch.pid, recording->signal.number);
			if (!run->options.quiet)
				message("waiting for %s to end; Ctrl-C leaves it alone",
					recording->command[0]);
		}
		if (fds[1].revents && signals_next(&run->signals, &signal) &&
		    signal.number != SIGUSR2)
			signals_die(signal.number);
	}
	return launch_wait(&recording->launch);
}

/* What becomes of the command once the recording is over, and so of prof. */
static int end_command(struct run *run)
{
	int status = wait_for_command(run);

	if (run->recording.end == END_TARGET || run->recording.end == END_DURATION)
		return STATUS_OK;
	if (WIFSIGNALED(status))
		signals_die(WTERMSIG(status));
	return WEXITSTATUS(status);
}

/* It is told at once; it need not wait until the profile is written. */
static void stop_command(const struct recording *recording)
{
	if (recording->has_command &&
	    (recording->end == END_TARGET || recording->end == END_DURATION))
		kill(recording->launch.pid, SIGTERM);
}

static struct error *open_all(struct run *run)
{
	struct error *err = signals_open(&run->signals);

	if (!err)
		err = prepare_command(run);
	if (!err)
		err = recording_open(&run->recording);
	return err;
}

static int record(struct run *run)
{
	struct recording *recording = &run->recording;
	struct error *err = open_all(run);
	int status;

	if (!err)
		err = recording_run(recording);
	if (err)
		return failed(err, recording->launch.refusal
					   ? launch_refusal_status(recording->launch.refusal)
					   : STATUS_FAILED);
	run->sampling_cpu_ns = summary_cpu_ns();
	stop_command(recording);
	if (run->writer > 0)
		waitpid(run->writer, NULL, 0);
	status = finish(run);
	if (recording->has_command && status == STATUS_OK)
		return end_command(run);
	if (recording->has_command)
		wait_for_command(run);
	return status;
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
	if (*all && !options->quiet)
		message("without a meaning here, and passed over: %s", all);
}

static int prepare_and_record(struct run *run)
{
	struct error *err = check_words(run);
	int status;

	cap_rate(&run->options);
	if (!err)
		err = recording_choose_events(&run->recording);
	if (err)
		return failed(err, STATUS_USAGE);
	choose_outputs(&run->options);
	status = open_outputs(run);
	if (status != STATUS_OK)
		return status;
	say_what_is_passed_over(&run->options);
	return record(run);
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
	run.recording.write_so_far = write_so_far;
	run.recording.user = &run;
	err = options_parse(record_option_table, argc, argv, &run.options, &rest, &help);
	if (err)
		return failed(err, STATUS_USAGE);
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
