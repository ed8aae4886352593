/*
 * prof record: sample a target, write its profile.
 */
#include "cmd/record.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "cmd/checkpoint.h"
#include "cmd/command.h"
#include "cmd/inside_messages.h"
#include "cmd/outputs.h"
#include "cmd/program_name.h"
#include "cmd/push.h"
#include "cmd/push_segments.h"
#include "cmd/record_check.h"
#include "cmd/record_completion.h"
#include "cmd/record_control.h"
#include "cmd/record_messages.h"
#include "cmd/record_plan.h"
#include "cmd/record_quality.h"
#include "cmd/rotation.h"
#include "cmd/segment_name.h"
#include "cmd/summary.h"
#include "cmd/ui/message.h"
#include "cmd/words.h"
#include "record/java_maps.h"
#include "record/running_children.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* How often the progress line is updated. */
#define PROGRESS_NS UINT64_C(1000000000)

struct run {
	struct record_options options;
	char **words; /* prof's own */
	int word_count;
	const char *program;			/* as in struct record_job */
	const struct record_programs *programs; /* NULL: the command itself is recorded */
	struct words notices;			/* with programs: for the end, if there is one */
	struct outputs outputs;
	struct output *raw; /* the perf.data file; NULL: none */
	struct recording recording;
	struct running_children running_children;
	struct running_children_usage running_usage;
	struct kept_symbolizer symbolizer;
	struct checkpoints checkpoints;
	struct rotation rotation;
	struct record_control control;
	struct push push;
	struct push_segments push_segments;
	bool has_usual_output; /* no -o */
	uint64_t sampling_cpu_ns;
	bool is_poor;	    /* a condition of --fail-if is met */
	bool is_unpushed;   /* a server of --push did not get the profile */
	bool is_snapshot;   /* this process is a forked writer; its parent goes on recording … */
	bool ends_profile;  /* … with a new profile */
	const char *reason; /* why this profile is written; NULL: the recording has ended */
	struct forked_writer writer; /* writes the profile as it was at SIGUSR2 */
};

/* False as long as a command has not started one of the programs that are recorded. */
static bool has_programs(const struct run *run)
{
	return !run->programs || run->programs->any(run->programs->user);
}

/* Not while a command is recorded: it may write to the terminal. */
static bool shows_progress(const struct run *run)
{
	return !run->options.output.quiet && !run->recording.is_of_command;
}

static bool writes_to_stdout(const struct record_options *options)
{
	for (size_t i = 0; i < options->output.outputs.count; i++)
		if (output_is_stdout(options->output.outputs.items[i]))
			return true;
	return false;
}

/* keeps_addresses: as in finalize_options. */
static void complete(struct run *run, bool keeps_addresses, struct finalize_result *ret)
{
	record_complete(
		&(struct record_completion){
			.recording = &run->recording,
			.options = &run->options,
			.words = run->words,
			.word_count = run->word_count,
			.history = run->rotation.history,
			.symbolizer = run->symbolizer.symbolizer,
			.sampling_cpu_ns = run->sampling_cpu_ns,
			.reason = run->reason,
			.keeps_addresses = keeps_addresses,
			.is_snapshot = run->is_snapshot,
			.ends_profile = run->ends_profile,
			.shows_progress = shows_progress(run),
		},
		ret);
}

static void keep_notice(void *user, const char *text)
{
	words_add(user, text);
}

/* Until a program begins, all words are those of the command. */
static struct listener listener_of(struct run *run)
{
	struct listener listener = record_messages(!run->options.output.quiet, false);

	if (run->programs && listener.notice) {
		listener.notice = keep_notice;
		listener.user = &run->notices;
	}
	return listener;
}

static void say_programs(struct run *run)
{
	for (size_t i = 0; i < run->notices.count; i++)
		message("%s", run->notices.items[i]);
	words_deinit(&run->notices);
	run->programs->say(run->programs->user);
}

static void push(struct run *run)
{
	run->push.guard = run->recording.signals.guard;
	if (!push_profile(&run->push, recorder_pipeline(run->recording.recorder)->profile))
		run->is_unpushed = true;
}

/* Other options than -p find the children themselves, -i asks for none, and the library is in all
 * of them. */
static void begin_running_children(struct run *run)
{
	const struct record_config *config = &run->recording.config;

	if (config->pid_count && !config->found_count && !config->with_children &&
	    config->inherit && !config->alloc_period)
		running_children_begin(&run->running_children, config->pids, config->pid_count);
}

/* To be freed; NULL: nothing worth a message. */
static char *running_children_of(const struct run *run)
{
	const struct record_config *config = &run->recording.config;

	return running_children_text(&run->running_usage, config->pids, config->pid_count);
}

static int finish(struct run *run)
{
	CLEANUP(finalize_result_deinit) struct finalize_result finalized = {0};
	CLEANUP(free_ptr) char *children = running_children_of(run);
	bool misses_programs = recorder_lost_execs(run->recording.recorder)->count;
	int status;

	if (!run->options.output.quiet)
		record_say_end(&run->recording);
	if (!run->options.output.quiet && children)
		message("%s", children);
	if (!run->options.output.quiet && run->programs)
		say_programs(run);
	if (!run->options.output.quiet && recorder_needs_library(run->recording.recorder))
		say_inside(&run->recording);
	complete(run, false, &finalized);
	status = outputs_finish(&(struct outputs_finish){
		.options = &run->options.output,
		.outputs = &run->outputs,
		.profile = recorder_pipeline(run->recording.recorder)->profile,
		.finalized = &finalized,
		.sampling_cpu_ns = run->sampling_cpu_ns,
		.unsampled_hint = record_unsampled_hint(&run->recording, &finalized.quality.counts),
		.explains_emptiness = misses_programs || children,
	});
	if (run->is_snapshot)
		return status;
	run->is_poor |= record_is_poor(&run->options.conditions, &finalized.quality);
	if (!rotation_is_on(&run->options.rotation))
		push(run);
	return status;
}

/* In a forked child. Its frames were symbolized before the fork. */
static bool write_checkpoint(void *user, bool prints_errors)
{
	struct run *run = user;
	CLEANUP(finalize_result_deinit) struct finalize_result finalized = {0};

	run->options.output.quiet = true;
	run->is_snapshot = true;
	complete(run, true, &finalized);
	return outputs_write_prepared(&run->outputs,
				      recorder_pipeline(run->recording.recorder)->profile,
				      &run->options.output.format_options, prints_errors);
}

/* In a forked child, for --control. */
static struct error *write_snapshot(void *user, struct output *output)
{
	struct run *run = user;
	CLEANUP(finalize_result_deinit) struct finalize_result finalized = {0};
	const struct profile *profile = recorder_pipeline(run->recording.recorder)->profile;
	bool quiet = run->options.output.quiet;
	struct error *err;

	run->options.output.quiet = true;
	run->is_snapshot = run->ends_profile = true;
	complete(run, false, &finalized);
	err = output_write(output, profile, &run->options.output.format_options);
	if (!err && !quiet)
		message("%s: %" PRIu64 " samples", output->path, finalized.quality.counts.samples);
	return err;
}

/* In a forked child. */
static void complete_cut(void *user, const char *reason, bool is_symbolized)
{
	struct run *run = user;
	CLEANUP(finalize_result_deinit) struct finalize_result finalized = {0};

	run->options.output.quiet = true;
	run->is_snapshot = run->ends_profile = true;
	run->reason = reason;
	complete(run, is_symbolized, &finalized);
}

static void push_segment(void *user)
{
	struct run *run = user;

	push_segments_begin(&run->push_segments);
}

/* Completes the perf.data file, which needs no symbols. */
static int finish_records(struct run *run)
{
	CLEANUP(free_ptr) char *command = outputs_command_line(run->words, run->word_count);
	CLEANUP(free_ptr) char *path = NULL;
	struct error *err;

	if (!run->raw)
		return STATUS_OK;
	err = output_end(run->raw, recorder_finish_raw(run->recording.recorder, command));
	if (!err)
		return STATUS_OK;
	message_error(err);
	if (run->raw->is_growing)
		message("%s has the records that could be written", run->raw->path);
	path = output_write_elsewhere(run->raw, NULL, NULL);
	if (path)
		message("the records are in %s instead", path);
	return STATUS_FAILED;
}

/* Writes the output files as they would be now; they are written again at the end. A pipe can be
 * written only once. */
static int write_files_so_far(struct run *run)
{
	struct outputs at_end = run->outputs;
	int status = STATUS_OK;

	run->outputs = (struct outputs){0};
	for (size_t i = 0; i < at_end.count && status == STATUS_OK; i++) {
		if (!at_end.items[i].is_file || !at_end.items[i].format->write)
			continue;
		status = outputs_add(&run->outputs, at_end.items[i].directory,
				     at_end.items[i].pattern, run->options.output.format);
		if (status == STATUS_OK)
			run->outputs.items[run->outputs.count - 1].checkpoint =
				at_end.items[i].checkpoint;
	}
	return status == STATUS_OK ? finish(run) : status;
}

/* In a forked child. */
static int write_snapshot_so_far(void *user)
{
	struct run *run = user;
	struct error *err = recording_fork(&run->recording);

	run->options.output.quiet = true;
	run->options.output.opens = false;
	run->is_snapshot = true;
	return err ? message_failure(err, STATUS_FAILED) : write_files_so_far(run);
}

static void on_written_so_far(void *user, const struct forked_writer_end *end)
{
	(void)user;
	(void)end;
}

static void write_so_far(struct run *run)
{
	bool quiet = run->options.output.quiet;
	struct error *err;

	if (run->writer.pid) {
		if (!quiet)
			message("what there was is still being written");
		return;
	}
	recorder_drain(run->recording.recorder);
	err = forked_writer_start(&run->writer, run->recording.loop, write_snapshot_so_far,
				  on_written_so_far, run);
	if (err)
		message_error(error_wrap(err, "write what there is so far"));
	else if (!quiet)
		message("writing what there is so far");
}

/* SIGUSR2. */
static void on_user_signal(void *user)
{
	struct run *run = user;

	if (rotation_is_on(&run->options.rotation))
		rotation_cut(&run->rotation, "SIGUSR2");
	else
		write_so_far(run);
}

static void name_program(struct run *run)
{
	CLEANUP(free_ptr) char *name = program_name(run->program);
	CLEANUP(free_ptr) char *comm = program_comm(run->program);

	recorder_name_command(run->recording.recorder, run->recording.launch.pid, comm, name);
}

static struct error *open_all(struct run *run)
{
	struct recording *recording = &run->recording;
	struct error *err = recording_prepare(recording, writes_to_stdout(&run->options)
								 ? LAUNCH_STDOUT_TO_STDERR
								 : LAUNCH_OUTPUT);
	int raw_fd = -1;

	if (!err && run->programs)
		err = run->programs->open(run->programs->user, recording);
	if (!err && run->raw)
		err = output_begin(run->raw, &raw_fd);
	begin_running_children(run);
	if (!err)
		err = recording_open(recording, raw_fd);
	if (!err && run->program)
		name_program(run);
	if (!err && run->options.output.verbose && !run->options.output.quiet)
		record_say_details(recording);
	return err;
}

static uint64_t next_wakeup(const struct run *run, uint64_t progress_ns)
{
	uint64_t checkpoint_ns = has_programs(run) ? checkpoints_next_ns(&run->checkpoints)
						   : LOOP_FOREVER;
	uint64_t rotation_ns = has_programs(run) ? rotation_next_ns(&run->rotation) : LOOP_FOREVER;

	if (rotation_ns < progress_ns)
		progress_ns = rotation_ns;
	return checkpoint_ns < progress_ns ? checkpoint_ns : progress_ns;
}

static struct error *sample_until_end(struct run *run)
{
	struct recording *recording = &run->recording;
	struct error *err = recording_start(recording);
	uint64_t next_ns = clock_now_ns() + PROGRESS_NS;

	if (!err)
		err = record_control_begin(&run->control);
	if (err)
		return err;
	checkpoints_begin(&run->checkpoints);
	rotation_begin(&run->rotation);
	while (recording_run(recording, next_wakeup(run, next_ns))) {
		if (has_programs(run)) {
			checkpoints_step(&run->checkpoints);
			rotation_step(&run->rotation);
		}
		if (clock_now_ns() < next_ns)
			continue;
		next_ns = clock_now_ns() + PROGRESS_NS;
		if (shows_progress(run))
			record_show_progress(recording);
	}
	message_progress_end();
	recorder_stop(recording->recorder);
	return NULL;
}

/* The command's status comes before that of --fail-if and --push. */
static int status_of(struct run *run, int status)
{
	struct recording *recording = &run->recording;

	if (recording->has_command && status == STATUS_OK)
		status = recording_end_command(recording);
	else if (recording->has_command)
		recording_wait_command(recording);
	return status == STATUS_OK && (run->is_poor || run->is_unpushed) ? STATUS_FAILED : status;
}

/* Files that could not be written at the end. */
static void say_what_is_left(const struct run *run)
{
	for (size_t i = 0; i < run->outputs.count; i++) {
		const struct output *output = &run->outputs.items[i];

		if (output->checkpoint >= 0 && !output->is_written)
			message("%s has the first %.1f s", output->path,
				run->checkpoints.written_seconds);
	}
}

/* Whether there is something to write, in the end, beside the snapshots. */
static bool has_rest(const struct run *run)
{
	const struct pipeline *pipeline = recorder_pipeline(run->recording.recorder);

	if (run->rotation.written && !run->rotation.history)
		return session_counts(pipeline->session)->samples;
	return !run->control.snapshots || !run->has_usual_output ||
	       run->outputs.items[0].checkpoint >= 0 || session_counts(pipeline->session)->samples;
}

static int finish_last(struct run *run)
{
	struct error *err = rotation_is_on(&run->options.rotation)
				    ? rotation_open_last(&run->rotation, &run->outputs)
				    : NULL;

	return err ? message_failure(err, STATUS_FAILED) : finish(run);
}

/* Writes all outputs, and says so. */
static int write_outputs(struct run *run)
{
	int records_status, status;
	bool has_last;

	signal_guard_begin(run->recording.signals.guard, SIGNAL_PHASE_WORKING);
	records_status = finish_records(run);
	has_last = has_rest(run);
	status = has_last ? finish_last(run) : STATUS_OK;
	rotation_finish(&run->rotation, has_last && status == STATUS_OK);
	if (!push_segments_finish(&run->push_segments))
		run->is_unpushed = true;
	if (status == STATUS_OK)
		return records_status;
	say_what_is_left(run);
	return status;
}

/* Before a command that prof has started gets SIGTERM. */
static void ask_java(const struct run *run)
{
	const struct listener listener = record_messages(true, false);

	if (run->options.asks_java && has_programs(run))
		java_maps_ask(recorder_pipeline(run->recording.recorder), &listener);
}

static int record(struct run *run)
{
	struct recording *recording = &run->recording;
	struct error *err = open_all(run);
	int status = STATUS_OK;

	if (!err && run->options.dry_run) {
		record_say_plan(recording, &run->outputs);
		return STATUS_OK;
	}
	if (!err)
		err = sample_until_end(run);
	if (err)
		return message_failure(err, recording_failure_status(recording));
	run->sampling_cpu_ns = clock_own_cpu_ns();
	run->running_usage = running_children_usage(&run->running_children);
	if (run->programs)
		run->programs->stop(run->programs->user);
	ask_java(run);
	recording_stop_command(recording);
	/* For a child that writes: it gets on while this process stands still. */
	signal_guard_begin(recording->signals.guard, SIGNAL_PHASE_WAITING);
	checkpoints_end(&run->checkpoints);
	record_control_end(&run->control);
	forked_writer_wait(&run->writer);
	rotation_end(&run->rotation);
	push_segments_stop(&run->push_segments);
	if (has_programs(run))
		status = write_outputs(run);
	return status_of(run, status);
}

static void warn_of_ignored_options(const struct record_options *options)
{
	CLEANUP(free_ptr) char *all = xstrdup("");

	for (size_t i = 0; i < options->without_meaning.count; i++) {
		char *more = xasprintf("%s%s%s", all, i ? ", " : "",
				       options->without_meaning.items[i]);

		free(all);
		all = more;
	}
	if (*all && !options->output.quiet)
		message("ignored, because they have no effect here: %s", all);
}

static struct error *choose(struct run *run)
{
	struct record_options *options = &run->options;
	struct record_config *config = &run->recording.config;
	struct error *err = record_check_options(options, *run->recording.command);

	if (!err)
		err = sampling_find_targets(&options->sampling, !options->output.quiet);
	if (err)
		return err;
	sampling_options_apply(&options->sampling, config);
	config->trigger_event = options->rotation.segment_event ? options->rotation.segment_event
								: options->rotation.trigger_event;
	config->counts_stat = run->options.counts_stat;
	config->delay_ns = options->delay.ns;
	config->starts_paused = options->delay.is_endless;
	config->duration_ns = options->duration_ns;
	config->debug_dir = options->output.symbols.debug_dir;
	config->commands_later = run->programs;
	return recording_choose(&run->recording);
}

static struct error *open_control(struct run *run, bool *is_usage)
{
	const char *how = run->options.control;

	if (!how)
		return NULL;
	*is_usage = !strcmp(how, "auto") && !*run->recording.command;
	if (*is_usage)
		return error_hint(error_new("--control auto is for a command that prof starts"),
				  "make FIFOs with mkfifo(1), and give --control fifo:CTL,ACK");
	return record_control_open(&run->control, how, is_usage);
}

/* --timestamp-filename: the time of the start. */
static void stamp_names(struct option_list *names)
{
	uint64_t now_ns = clock_unix_ns();

	if (!names->count)
		error_free(option_append(names, "prof.pb.gz"));
	for (size_t i = 0; i < names->count; i++) {
		char *template = segment_template(names->items[i], now_ns);

		free(names->items[i]);
		names->items[i] = template;
	}
}

/* A signal after the end of sampling ends the waiting for servers, as it does symbolizing. */
static bool is_cancelled(void *user)
{
	struct recording *recording = user;

	loop_run(recording->loop, 0);
	return atomic_load(&recording->cancel);
}

static struct error *open_push(struct run *run, bool *is_usage)
{
	struct error *err = push_open(&run->options.push, run->options.output.quiet, &run->push,
				      is_usage);

	run->push.wait = (struct push_wait){is_cancelled, &run->recording};
	if (err || !run->push.target_count || !rotation_is_on(&run->options.rotation))
		return err;
	*is_usage = true;
	run->push_segments.has_lock = run->options.rotation.every_ns;
	run->push_segments.every_ns = run->options.rotation.every_ns;
	return push_segments_open(&run->push_segments, &run->outputs, &run->options.output);
}

static int prepare_and_record(struct run *run)
{
	struct record_config *config = &run->recording.config;
	struct error *err = choose(run);
	bool is_usage = true;
	int status;

	if (!err)
		err = rotation_open_store(&run->rotation, &run->options.output, &is_usage);
	if (err)
		return message_failure(err, is_usage ? STATUS_USAGE : STATUS_FAILED);
	run->outputs.cannot_repeat = true;
	run->has_usual_output = !run->options.output.outputs.count;
	run->options.output.keeps_stdout |= rotation_is_on(&run->options.rotation);
	if (run->options.rotation.stamps_names && !rotation_is_on(&run->options.rotation))
		stamp_names(&run->options.output.outputs);
	status = outputs_open(&run->outputs, &run->options.output);
	if (status != STATUS_OK)
		return status;
	err = rotation_open(&run->rotation, &run->outputs);
	if (!err)
		err = record_find_raw(&run->outputs, config, &run->raw);
	if (err)
		return message_failure(err, STATUS_USAGE);
	warn_of_ignored_options(&run->options);
	config->folds_ended = true;
	/* Of segments, parts can be shown. */
	run->options.output.format_options.times = run->options.rotation.every_ns;
	config->needs_timestamps = outputs_need_timestamps(&run->outputs) ||
				   run->options.output.format_options.times;
	config->counts_polls = true;
	config->writes_raw = run->raw;
	if (!rotation_is_on(&run->options.rotation))
		run->checkpoints.interval = run->options.checkpoint;
	run->symbolizer.symbols = run->options.output.symbols;
	err = open_push(run, &is_usage);
	if (!err) {
		is_usage = true;
		err = outputs_take_labels(&run->outputs, &run->options.output.format_options,
					  &run->push);
	}
	if (!err)
		err = open_control(run, &is_usage);
	if (err)
		return message_failure(err, is_usage ? STATUS_USAGE : STATUS_FAILED);
	return record(run);
}

static void close_programs(void *user)
{
	struct run *run = user;

	if (run->programs)
		run->programs->close(run->programs->user);
}

static void run_deinit(struct run *run)
{
	close_programs(run);
	kept_symbolizer_forget(&run->symbolizer);
	record_control_end(&run->control);
	rotation_deinit(&run->rotation);
	push_segments_deinit(&run->push_segments);
	push_close(&run->push);
	recording_deinit(&run->recording);
	running_children_deinit(&run->running_children);
	words_deinit(&run->notices);
	outputs_close(&run->outputs);
	record_options_deinit(&run->options);
}

static int print_help(void)
{
	printf("Usage: prof record [options] [--] COMMAND [ARGUMENTS]\n"
	       "       prof record [options] -p PID|-t TID|-a|--name NAME|--container NAME "
	       "[-- COMMAND]\n\n"
	       "Samples COMMAND, or running programs while COMMAND runs, and writes a "
	       "profile.\n\n");
	options_help(record_option_table, stdout);
	outputs_help(true);
	return STATUS_OK;
}

int record_run_job(struct record_job *job)
{
	CLEANUP(run_deinit)
	struct run run = {
		.options = job->options,
		.words = job->words,
		.word_count = job->word_count,
		.program = job->program,
		.programs = job->programs,
		.recording =
			{
				.command = job->command,
				.is_of_command = sampling_is_of_command(&job->options.sampling),
				.quiet = job->options.output.quiet,
				.write_so_far = on_user_signal,
				.command_ended = close_programs,
				.user = &run,
			},
		.symbolizer.recording = &run.recording,
		.checkpoints =
			{
				.recording = &run.recording,
				.symbolizer = &run.symbolizer,
				.outputs = &run.outputs,
				.write = write_checkpoint,
				.user = &run,
			},
		.rotation =
			{
				.options = &run.options.rotation,
				.recording = &run.recording,
				.output = &run.options.output,
				.push = &run.push,
				.symbolizer = &run.symbolizer,
				.complete = complete_cut,
				.has_written = push_segment,
				.user = &run,
			},
		.push_segments = {.push = &run.push, .recording = &run.recording},
		.control =
			{
				.recording = &run.recording,
				.rotation = &run.rotation,
				.write = write_snapshot,
				.user = &run,
			},
	};

	job->options = (struct record_options){0};
	run.recording.listener = listener_of(&run);
	return prepare_and_record(&run);
}

static int record_run(int argc, char **argv)
{
	struct record_job job = {.words = argv, .word_count = argc};
	bool help;
	int rest = argc;
	struct error *err;

	record_options_init(&job.options);
	err = options_parse(record_option_table, argc, argv, &job.options, &rest, &help);
	if (!err && !help) {
		job.command = argv + rest;
		return record_run_job(&job);
	}
	record_options_deinit(&job.options);
	return err ? message_failure(err, STATUS_USAGE) : print_help();
}

const struct command command_record = {
	.name = "record",
	.summary = "sample a program, unwind and name its stacks, write a profile",
	.options = record_option_table,
	.operands = OPERANDS_COMMAND,
	.takes_records = true,
	.run = record_run,
};
