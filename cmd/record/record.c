/*
 * prof record: samples a target and writes its profile.
 */
#include "cmd/record/record.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "cmd/command.h"
#include "cmd/help.h"
#include "cmd/options/sampling_title.h"
#include "cmd/outputs.h"
#include "cmd/program_name.h"
#include "cmd/push/push.h"
#include "cmd/push/push_segments.h"
#include "cmd/record/checkpoint.h"
#include "cmd/record/command_hint.h"
#include "cmd/record/record_check.h"
#include "cmd/record/record_completion.h"
#include "cmd/record/record_control.h"
#include "cmd/record/record_messages.h"
#include "cmd/record/record_plan.h"
#include "cmd/record/record_quality.h"
#include "cmd/record/rotation.h"
#include "cmd/string_list.h"
#include "cmd/suggestions.h"
#include "cmd/summary.h"
#include "cmd/ui/message.h"
#include "record/java_maps.h"
#include "record/running_children.h"
#include "segments/name.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* How often the progress line is updated. */
#define PROGRESS_NS UINT64_C(1000000000)

struct record_run {
	struct record_options options;
	char **words; /* prof's command line */
	int word_count;
	const char *program;			/* as in struct record_job */
	const struct record_programs *programs; /* NULL if the command itself is recorded */
	/* with programs: printed at the end if one was started */
	struct string_list notices;
	struct outputs outputs;
	struct output *raw; /* the perf.data file, or NULL */
	struct recording recording;
	struct running_children running_children;
	struct running_children_usage running_usage;
	struct kept_symbolizer symbolizer;
	struct checkpoints checkpoints;
	struct rotation rotation;
	struct record_control control;
	struct push push;
	struct push_segments push_segments;
	bool has_usual_output; /* there is no -o */
	uint64_t sampling_cpu_ns;
	bool is_poor;	  /* a condition of --fail-if holds */
	bool is_unpushed; /* a server of --push did not get the profile */
	/* this process is a forked writer whose parent continues to record */
	bool is_snapshot;
	bool ends_profile; /* the parent continues with a new profile */
	/* why this profile is written; NULL if the recording has ended */
	const char *reason;
	struct forked_writer writer; /* writes a snapshot of the profile on SIGUSR2 */
};

/* Returns false if a command has not yet started one of the programs that are
 * recorded. */
static bool record_has_programs(const struct record_run *run)
{
	return !run->programs || run->programs->any(run->programs->user);
}

/* Returns false for a command, which may write to the terminal. */
static bool shows_progress(const struct record_run *run)
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
static void record_complete_run(struct record_run *run, bool keeps_addresses,
				struct finalize_result *ret)
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
	string_list_add(user, text);
}

/* Keeps notices until a program starts, because the command prints until then. */
static struct listener listener_of(struct record_run *run)
{
	struct listener listener = record_messages(!run->options.output.quiet, false);

	if (run->programs && listener.notice) {
		listener.notice = keep_notice;
		listener.user = &run->notices;
	}
	return listener;
}

static void record_say_programs(struct record_run *run)
{
	for (size_t i = 0; i < run->notices.count; i++)
		message("%s", run->notices.items[i]);
	string_list_deinit(&run->notices);
	run->programs->say(run->programs->user);
}

static void record_push(struct record_run *run)
{
	run->push.guard = run->recording.signals.guard;
	if (!push_profile(&run->push, recorder_pipeline(run->recording.recorder)->profile))
		run->is_unpushed = true;
}

/* Other options than -p find the children themselves, -i excludes children, and
 * the preloaded agent is in all of them. */
static void begin_running_children(struct record_run *run)
{
	const struct record_config *config = &run->recording.config;

	if (config->target.pid_count && !config->target.found_count &&
	    !config->target.with_children && config->target.inherit && !config->memory.alloc_period)
		running_children_begin(&run->running_children, config->target.pids,
				       config->target.pid_count);
}

/* Returns a text that the caller frees, or NULL if no message is needed. */
static char *running_children_of(const struct record_run *run)
{
	const struct record_config *config = &run->recording.config;

	return running_children_text(&run->running_usage, config->target.pids,
				     config->target.pid_count);
}

static int record_finish(struct record_run *run)
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
		record_say_programs(run);
	if (!run->options.output.quiet && recorder_needs_library(run->recording.recorder))
		record_say_inside(&run->recording);
	record_complete_run(run, false, &finalized);
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
		record_push(run);
	return status;
}

/* Called in a forked child. The frames were symbolized before the fork. */
static bool write_checkpoint(void *user, bool prints_errors)
{
	struct record_run *run = user;
	CLEANUP(finalize_result_deinit) struct finalize_result finalized = {0};

	run->options.output.quiet = true;
	run->is_snapshot = true;
	record_complete_run(run, true, &finalized);
	return outputs_write_prepared(&run->outputs,
				      recorder_pipeline(run->recording.recorder)->profile,
				      &run->options.output.format_options, prints_errors);
}

/* Called in a forked child, for --control. */
static struct error *record_write_snapshot(void *user, struct output *output)
{
	struct record_run *run = user;
	CLEANUP(finalize_result_deinit) struct finalize_result finalized = {0};
	const struct profile *profile = recorder_pipeline(run->recording.recorder)->profile;
	bool quiet = run->options.output.quiet;
	struct error *err;

	run->options.output.quiet = true;
	run->is_snapshot = run->ends_profile = true;
	record_complete_run(run, false, &finalized);
	err = output_write(output, profile, &run->options.output.format_options);
	if (!err && !quiet)
		message("%s: %" PRIu64 " samples", output->path, finalized.quality.counts.samples);
	return err;
}

/* Called in a forked child. */
static void complete_cut(void *user, const char *reason, bool is_symbolized)
{
	struct record_run *run = user;
	CLEANUP(finalize_result_deinit) struct finalize_result finalized = {0};

	run->options.output.quiet = true;
	run->is_snapshot = run->ends_profile = true;
	run->reason = reason;
	record_complete_run(run, is_symbolized, &finalized);
}

static void push_segment(void *user)
{
	struct record_run *run = user;

	push_segments_begin(&run->push_segments);
}

/* Completes the perf.data file, which needs no symbols. */
static int finish_records(struct record_run *run)
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

/* Writes the output files with the samples so far. They are written again at
 * the end. Pipes are skipped, because they can be written only once. */
static int write_files_so_far(struct record_run *run)
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
	return status == STATUS_OK ? record_finish(run) : status;
}

/* Called in a forked child. */
static int write_snapshot_so_far(void *user)
{
	struct record_run *run = user;
	struct error *err = recording_fork(&run->recording);

	run->options.output.quiet = true;
	run->options.output.opens = false;
	run->is_snapshot = true;
	return err ? message_failure(err) : write_files_so_far(run);
}

static void on_written_so_far(void *user, const struct forked_child_end *end)
{
	(void)user;
	(void)end;
}

static void write_so_far(struct record_run *run)
{
	bool quiet = run->options.output.quiet;
	struct error *err;

	if (run->writer.pid) {
		if (!quiet)
			message("the previous snapshot is still being written");
		return;
	}
	recorder_drain(run->recording.recorder);
	err = forked_writer_start(&run->writer, run->recording.loop, FORKED_CHILD_LIVES_ON,
				  write_snapshot_so_far, on_written_so_far, run);
	if (err)
		message_error(error_wrap(err, "write the samples so far"));
	else if (!quiet)
		message("writing the samples so far");
}

/* Handles SIGUSR2. */
static void on_user_signal(void *user)
{
	struct record_run *run = user;

	if (rotation_is_on(&run->options.rotation))
		rotation_cut(&run->rotation, "SIGUSR2");
	else
		write_so_far(run);
}

static void name_program(struct record_run *run)
{
	CLEANUP(free_ptr) char *name = program_name(run->program);
	CLEANUP(free_ptr) char *comm = program_comm(run->program);

	recorder_name_command(run->recording.recorder, run->recording.launch.pid, comm, name);
}

static struct error *record_open_all(struct record_run *run)
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

static uint64_t next_wakeup(const struct record_run *run, uint64_t progress_ns)
{
	uint64_t checkpoint_ns = record_has_programs(run) ? checkpoints_next_ns(&run->checkpoints)
							  : LOOP_FOREVER;
	uint64_t rotation_ns = record_has_programs(run) ? rotation_next_ns(&run->rotation)
							: LOOP_FOREVER;

	if (rotation_ns < progress_ns)
		progress_ns = rotation_ns;
	return checkpoint_ns < progress_ns ? checkpoint_ns : progress_ns;
}

static struct error *sample_until_end(struct record_run *run)
{
	struct recording *recording = &run->recording;
	struct error *err = command_hint(recording_start(recording), recording, "record");
	uint64_t next_ns = clock_now_ns() + PROGRESS_NS;

	if (!err)
		err = record_control_begin(&run->control);
	if (err)
		return err;
	checkpoints_begin(&run->checkpoints);
	rotation_begin(&run->rotation);
	while (recording_run(recording, next_wakeup(run, next_ns))) {
		if (record_has_programs(run)) {
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

/* The command's status takes precedence over that of --fail-if and --push. */
static int status_of(struct record_run *run, int status)
{
	struct recording *recording = &run->recording;

	if (recording->has_command && status == STATUS_OK) {
		status = recording_end_command(recording);
		command_hint_after(recording, status);
	} else if (recording->has_command) {
		recording_wait_command(recording);
	}
	return status == STATUS_OK && (run->is_poor || run->is_unpushed) ? STATUS_FAILED : status;
}

/* Reports the files that could not be written at the end. */
static void say_what_is_left(const struct record_run *run)
{
	for (size_t i = 0; i < run->outputs.count; i++) {
		const struct output *output = &run->outputs.items[i];

		if (output->checkpoint >= 0 && !output->is_written)
			message("%s has the first %.1f s", output->path,
				run->checkpoints.written_seconds);
	}
}

/* Returns true if there is something to write at the end in addition to the
 * snapshots. */
static bool has_rest(const struct record_run *run)
{
	const struct pipeline *pipeline = recorder_pipeline(run->recording.recorder);

	if (run->rotation.written && !run->rotation.history)
		return session_counts(pipeline->session)->quality.samples;
	return !run->control.snapshots || !run->has_usual_output ||
	       run->outputs.items[0].checkpoint >= 0 ||
	       session_counts(pipeline->session)->quality.samples;
}

static int finish_last(struct record_run *run)
{
	struct error *err = rotation_is_on(&run->options.rotation)
				    ? rotation_open_last(&run->rotation, &run->outputs)
				    : NULL;

	return err ? message_failure(err) : record_finish(run);
}

/* Writes all outputs and prints the result. */
static int record_write_outputs(struct record_run *run)
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

/* Asks before a command that prof has started gets SIGTERM. */
static void ask_java(const struct record_run *run)
{
	const struct listener listener = record_messages(true, false);
	bool is_quiet = run->options.java != JAVA_ALL && run->options.output.quiet;

	if (record_has_programs(run))
		java_maps_ask(recorder_pipeline(run->recording.recorder), run->options.java,
			      is_quiet ? NULL : &listener);
}

static int record(struct record_run *run)
{
	struct recording *recording = &run->recording;
	struct error *err = record_open_all(run);
	int status = STATUS_OK;

	if (!err && run->options.dry_run) {
		record_say_plan(recording, &run->outputs);
		return STATUS_OK;
	}
	if (!err)
		err = sample_until_end(run);
	if (err)
		return message_failure_as(err, recording_failure_status(recording));
	run->sampling_cpu_ns = clock_own_cpu_ns();
	run->running_usage = running_children_usage(&run->running_children);
	if (run->programs)
		run->programs->stop(run->programs->user);
	ask_java(run);
	recording_stop_command(recording);
	/* The child that writes makes progress while this process waits. */
	signal_guard_begin(recording->signals.guard, SIGNAL_PHASE_WAITING);
	checkpoints_end(&run->checkpoints);
	record_control_end(&run->control);
	forked_writer_wait(&run->writer);
	rotation_end(&run->rotation);
	push_segments_stop(&run->push_segments);
	if (record_has_programs(run))
		status = record_write_outputs(run);
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

static struct error *record_choose(struct record_run *run)
{
	struct record_options *options = &run->options;
	struct record_config *config = &run->recording.config;
	struct error *err = record_check_options(options, *run->recording.command);

	if (!err)
		err = sampling_find_targets(&options->sampling, !options->output.quiet);
	if (err)
		return err;
	run->recording.title = sampling_title(&options->sampling, run->recording.command,
					      run->program);
	sampling_options_apply(&options->sampling, config);
	config->events.trigger = options->rotation.segment_event ? options->rotation.segment_event
								 : options->rotation.trigger_event;
	config->output.counts_stat = run->options.counts_stat;
	config->control.delay_ns = options->delay.ns;
	config->control.starts_paused = options->delay.is_endless;
	config->control.duration_ns = options->duration_ns;
	config->output.debug_dir = options->output.symbols.debug_dir;
	config->target.commands_later = run->programs;
	return recording_choose(&run->recording);
}

static struct error *open_control(struct record_run *run)
{
	const char *how = run->options.control;

	if (!how)
		return NULL;
	if (!strcmp(how, "auto") && !*run->recording.command)
		return error_hint(
			error_usage(error_new("--control auto is for a command that prof starts")),
			"make FIFOs with mkfifo(1), and give --control fifo:CTL,ACK");
	return record_control_open(&run->control, how);
}

/* Adds the start time to file names (--timestamp-filename). */
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

/* A signal after the end of sampling cancels the wait for servers, like
 * symbolization. */
static bool record_is_cancelled(void *user)
{
	struct recording *recording = user;

	loop_run(recording->loop, 0);
	return atomic_load(&recording->cancel);
}

static struct error *record_open_push(struct record_run *run)
{
	struct error *err = push_open(&run->options.push, run->options.output.quiet, &run->push);

	run->push.wait = (struct push_wait){record_is_cancelled, &run->recording};
	if (err || !run->push.target_count || !rotation_is_on(&run->options.rotation))
		return err;
	run->push_segments.has_lock = run->options.rotation.every_ns;
	run->push_segments.every_ns = run->options.rotation.every_ns;
	return error_usage(
		push_segments_open(&run->push_segments, &run->outputs, &run->options.output));
}

static int prepare_and_record(struct record_run *run)
{
	struct record_config *config = &run->recording.config;
	struct error *err = error_usage(record_choose(run));
	int status;

	if (!err)
		err = rotation_open_store(&run->rotation, &run->options.output);
	if (err)
		return message_failure(err);
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
		return message_failure(error_usage(err));
	warn_of_ignored_options(&run->options);
	config->output.folds_ended = true;
	/* prof can show parts of the time of segments, so they keep times. */
	run->options.output.format_options.pprof.times = run->options.rotation.every_ns;
	config->output.needs_timestamps = outputs_need_timestamps(&run->outputs) ||
					  run->options.output.format_options.pprof.times;
	config->output.counts_polls = true;
	config->output.writes_raw = run->raw;
	if (!rotation_is_on(&run->options.rotation))
		run->checkpoints.interval = run->options.checkpoint;
	run->symbolizer.symbols = run->options.output.symbols;
	err = record_open_push(run);
	if (!err)
		err = outputs_take_labels(&run->outputs, &run->options.output.format_options,
					  &run->push);
	if (!err)
		err = open_control(run);
	if (err)
		return message_failure(err);
	return record(run);
}

static void record_close_programs(void *user)
{
	struct record_run *run = user;

	if (run->programs)
		run->programs->close(run->programs->user);
}

static void record_run_deinit(struct record_run *run)
{
	record_close_programs(run);
	kept_symbolizer_forget(&run->symbolizer);
	record_control_end(&run->control);
	rotation_deinit(&run->rotation);
	push_segments_deinit(&run->push_segments);
	push_close(&run->push);
	recording_deinit(&run->recording);
	running_children_deinit(&run->running_children);
	string_list_deinit(&run->notices);
	outputs_close(&run->outputs);
	record_options_deinit(&run->options);
}

int record_run_job(struct record_job *job)
{
	CLEANUP(record_run_deinit)
	struct record_run run = {
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
				.command_ended = record_close_programs,
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
				.write = record_write_snapshot,
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
	enum option_group help;
	int rest = argc;
	struct error *err;

	if (argc == 1 && suggestions_are_possible())
		return suggestions_print("nothing to record");
	err = record_options_parse(&job.options, argc, argv, &rest, &help);
	if (job.options.has_old_latency && !job.options.output.quiet)
		message("--latency FUNCTION is now --calls FUNCTION; --latency alone is the same "
			"as "
			"--elapsed");
	if (!err && !help) {
		job.command = argv + rest;
		return record_run_job(&job);
	}
	record_options_deinit(&job.options);
	return err ? message_failure(error_usage(err)) : help_print(&command_record, help);
}

const struct command command_record = {
	.name = "record",
	.summary = "record a profile of a program",
	.usage = "[options] [--] COMMAND [ARGUMENTS]\n"
		 "[options] -p PID|-a|--name NAME|... [-- COMMAND]",
	.description =
		"Runs COMMAND and records a profile of it. With -p, -a, --name or another target, "
		"records running programs until they end, COMMAND ends, or you press Ctrl-C.",
	.examples = "prof record -o app.html ./app                   # HTML report\n"
		    "prof record -F 99 -p 1234 --duration 10         # running process\n"
		    "prof record --wall -o app.pb.gz ./app           # CPU and off-CPU time\n"
		    "prof record -a -g -o all.folded -- sleep 10     # whole machine",
	.options = record_option_table,
	.operands = OPERANDS_COMMAND,
	.takes_records = true,
	.writes_profiles = true,
	.run = record_run,
};
