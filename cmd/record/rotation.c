#include "cmd/record/rotation.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/humanize.h"
#include "cmd/command.h"
#include "cmd/ui/message.h"
#include "segments/name.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* How often sizes and triggers are checked. */
#define CHECK_NS NS_PER_SECOND

/* Address spaces with more modules are replaced by new ones. A module takes
 * about 20 KB. */
enum { STORE_MODULES_MAX = 2000 };

bool rotation_is_on(const struct rotation_options *options)
{
	return options->segments.how || options->keep_ns;
}

static const struct pipeline *rotation_pipeline_of(const struct rotation *rotation)
{
	return recorder_pipeline(rotation->recording->recorder);
}

/* ---- The child ---- */

static bool rotation_make_room(void *user)
{
	struct rotation *rotation = user;
	char removed[SEGMENT_NAME_BYTES];

	if (!rotation->store.directory.path)
		return segments_remove_oldest(&rotation->segments);
	if (!segment_store_remove_oldest(&rotation->store, removed))
		return false;
	message("%s: the disk is full: removed %s", rotation->store.directory.path, removed);
	return true;
}

static struct error *write_output(struct rotation *rotation, struct output *output)
{
	const struct profile *profile = rotation_pipeline_of(rotation)->profile;
	struct error *err;

	for (;;) {
		err = output_write_prepared(output, profile, &rotation->output->format_options);
		if (!err || error_number(err) != ENOSPC || !rotation_make_room(rotation))
			return err;
		error_free(err);
	}
}

static void say_written(const struct rotation *rotation)
{
	const struct profile_info *info = profile_get_info(rotation_pipeline_of(rotation)->profile);
	struct humanized samples = humanize_count(info->quality.samples);

	for (size_t i = 0; i < rotation->outputs.count; i++)
		message("%s: %s samples of %.1f s%s%s%s", rotation->outputs.items[i].path,
			samples.text, (double)info->duration_ns / 1e9, rotation->reason ? " (" : "",
			rotation->reason ? rotation->reason : "", rotation->reason ? ")" : "");
}

static int rotation_write_profile(void *user)
{
	struct rotation *rotation = user;
	/* A recording with --every runs for days, so a line per segment would
	 * be too much. */
	bool is_quiet = rotation->output->quiet ||
			(rotation->store.directory.path && !rotation->output->verbose);
	struct error *err = recording_fork(rotation->recording);

	segment_store_fork(&rotation->store);
	if (!err)
		rotation->complete(rotation->user, rotation->reason, rotation->is_symbolized);
	for (size_t i = 0; !err && i < rotation->outputs.count; i++)
		err = write_output(rotation, &rotation->outputs.items[i]);
	if (!err && !is_quiet)
		say_written(rotation);
	if (!err)
		return EXIT_SUCCESS;
	/* Only the first failure is printed; all are counted. */
	if (!rotation->failed)
		message_error(err);
	return EXIT_FAILURE;
}

/* ---- Cuts ---- */

static void rotation_reset(struct rotation *rotation)
{
	outputs_close(&rotation->outputs);
	rotation->outputs = (struct outputs){0};
	free(STEAL(rotation->reason));
}

static void rotation_on_written(void *user, const struct forked_child_end *end)
{
	struct rotation *rotation = user;
	uint64_t bytes;

	segments_look_again(&rotation->segments);
	bytes = segments_take(&rotation->segments, &rotation->outputs);
	if (rotation->options->max_segments)
		segments_keep(&rotation->segments, rotation->options->max_segments);
	if (rotation->store.directory.path) {
		segment_store_retain(&rotation->store, clock_unix_ns());
		segment_merging_step(&rotation->merging, clock_unix_ns());
	}
	if (end->status == 0)
		rotation->written++;
	else
		rotation->failed++;
	/* A flight recorder writes its history, which is more than the current
	 * profile. */
	if (end->status == 0 && !rotation->history)
		file_estimate_learn(&rotation->estimate, bytes);
	rotation_reset(rotation);
	if (end->status == 0)
		rotation->has_written(rotation->user);
	if (rotation->is_wanted) {
		CLEANUP(free_ptr) char *reason = STEAL(rotation->next_reason);

		rotation->is_wanted = false;
		rotation_cut(rotation, reason);
	}
}

/* Two segments never have the same time. */
static uint64_t next_stamp(struct rotation *rotation)
{
	uint64_t now_ns = clock_unix_ns(), least_ns = rotation->named_unix_ns + 10 * NS_PER_MS;

	return rotation->named_unix_ns = now_ns > least_ns ? now_ns : least_ns;
}

/* A segment in a directory is named after the time when its profile started,
 * other segments after the time of the cut. */
static char *template_of(struct rotation *rotation, const char *name, uint64_t unix_ns)
{
	const struct recorder *recorder = rotation->recording->recorder;

	if (!rotation->store.directory.path)
		return segment_template(name, unix_ns);
	return segment_store_template(&rotation->store,
				      recorder_profile_window(recorder).start_unix_ns);
}

static struct error *rotation_open_outputs(struct rotation *rotation, struct outputs *outputs)
{
	const struct option_list *names = &rotation->output->outputs;
	uint64_t unix_ns = next_stamp(rotation);
	struct error *err = NULL;

	outputs->items = xcalloc(names->count, sizeof(*outputs->items));
	while (outputs->count < names->count && !err) {
		CLEANUP(free_ptr)
		char *template = template_of(rotation, names->items[outputs->count], unix_ns);

		err = output_open(rotation->output->directory, template, rotation->output->format,
				  message_error, &outputs->items[outputs->count]);
		outputs->count += !err;
	}
	return err;
}

static struct error *rotation_prepare(struct rotation *rotation)
{
	struct error *err = rotation_open_outputs(rotation, &rotation->outputs);

	for (size_t i = 0; i < rotation->outputs.count && !err; i++)
		err = output_prepare(&rotation->outputs.items[i]);
	return err;
}

/* Starts the next profile. Replaces address spaces that have grown with
 * processes that have ended. */
static void begin_profile(struct rotation *rotation)
{
	struct recorder *recorder = rotation->recording->recorder;
	const struct address_spaces *spaces = rotation_pipeline_of(rotation)->spaces;
	struct recorder_window window;

	if (rotation->store.directory.path &&
	    address_spaces_module_count(spaces) > STORE_MODULES_MAX) {
		kept_symbolizer_forget(rotation->symbolizer);
		recorder_renew(recorder);
	}
	profile_free(recorder_rotate(recorder, &window));
}

struct error *rotation_fork(struct rotation *rotation, struct forked_writer *writer,
			    int (*child)(void *user),
			    void (*ended)(void *user, const struct forked_child_end *end),
			    void *user)
{
	struct error *err;

	if (rotation->history)
		history_cut(rotation->history);
	err = forked_writer_start(writer, rotation->recording->loop, FORKED_CHILD_LIVES_ON, child,
				  ended, user);
	if (!err && !rotation->history)
		begin_profile(rotation);
	return err;
}

void rotation_forget(struct rotation *rotation)
{
	struct recorder_window window;

	if (rotation->history)
		history_forget(rotation->history);
	else
		profile_free(recorder_rotate(rotation->recording->recorder, &window));
}

/* Plans the end of the next segment: after its length, or in a directory at the
 * next multiple of it. */
static void plan_cut(struct rotation *rotation)
{
	uint64_t time_ns = rotation->options->segments.amount, left_ns = time_ns;

	if (rotation->store.directory.path)
		left_ns -= clock_unix_ns() % time_ns;
	/* The clock was set or is slewed, and the multiple was just reached:
	 * take the next one. */
	if (left_ns < time_ns / 20)
		left_ns += time_ns;
	rotation->cut_ns = clock_now_ns() + left_ns;
}

/*
 * The rings are read during the first run, which adds frames to the profile.
 * The second run symbolizes these, and does not read rings. Returns true if all
 * frames are symbolized.
 */
static bool symbolize_segment(struct rotation *rotation)
{
	struct signal_guard *guard = rotation->recording->signals.guard;
	bool is_complete;

	if (!rotation->store.directory.path)
		return false;
	/* While the main thread waits for the threads that symbolize, their
	 * progress counts. */
	signal_guard_begin(guard, SIGNAL_PHASE_WORKING);
	is_complete = kept_symbolizer_run(rotation->symbolizer);
	if (is_complete) {
		recorder_drain_up_to_now(rotation->recording->recorder);
		is_complete = kept_symbolizer_run(rotation->symbolizer);
	}
	signal_guard_begin(guard, SIGNAL_PHASE_LISTENING);
	return is_complete;
}

static struct error *rotation_cut_now(struct rotation *rotation)
{
	struct error *err;

	recorder_drain_up_to_now(rotation->recording->recorder);
	rotation->is_symbolized = symbolize_segment(rotation);
	plan_cut(rotation);
	file_estimate_begin(&rotation->estimate, rotation_pipeline_of(rotation)->profile);
	err = rotation_prepare(rotation);
	return err ? err
		   : rotation_fork(rotation, &rotation->writer, rotation_write_profile,
				   rotation_on_written, rotation);
}

/* If the cut fails, the current profile continues. */
void rotation_cut(struct rotation *rotation, const char *reason)
{
	struct error *err;

	if (rotation->writer.pid) {
		free(rotation->next_reason);
		rotation->next_reason = reason ? xstrdup(reason) : NULL;
		rotation->is_wanted = true;
		return;
	}
	rotation->reason = reason ? xstrdup(reason) : NULL;
	err = rotation_cut_now(rotation);
	if (!err)
		return;
	if (rotation->failed++)
		error_free(err);
	else
		message_error(err);
	rotation_reset(rotation);
}

/* ---- Times, sizes and triggers ---- */

struct error *rotation_open_store(struct rotation *rotation, struct output_options *options)
{
	struct option_list *names = &options->outputs;
	struct error *err;

	if (!rotation->options->every_ns)
		return NULL;
	if (names->count != 1)
		return error_hint(error_usage(error_new("--every writes into one directory")),
				  "-o /var/log/prof/");
	if (rotation->output->format && rotation->output->format != &format_pprof)
		return error_hint(
			error_usage(error_new("--every writes pprof files only")),
			"prof convert DIRECTORY --since -1h converts them to other formats");
	rotation->store.retention = rotation->options->retention;
	rotation->store.tell = message;
	err = segment_store_open(&rotation->store, names->items[0]);
	if (err)
		return err;
	segment_store_retain(&rotation->store, clock_unix_ns());
	rotation->merging = (struct segment_merging){.recording = rotation->recording,
						     .push = rotation->push,
						     .retention = &rotation->store.retention,
						     .directory = &rotation->store.directory};
	options->directory = &rotation->store.directory;
	free(names->items[0]);
	names->items[0] = segment_store_template(&rotation->store, clock_unix_ns());
	return NULL;
}

struct error *rotation_open(struct rotation *rotation, const struct outputs *outputs)
{
	rotation->at_end = outputs;
	rotation->segments.are_removable = rotation->options->max_segments;
	file_estimate_init(&rotation->estimate);
	if (!rotation_is_on(rotation->options))
		return NULL;
	for (size_t i = 0; i < outputs->count; i++) {
		const struct output *output = &outputs->items[i];
		const char *option = rotation->options->keep_ns ? "--overwrite" : "--switch-output";

		if (!output->is_file)
			return error_hint(error_new("%s needs a regular file: %s is not one",
						    option, output->path),
					  "-o prof.pb.gz");
		if (!output->format->write)
			return error_hint(error_new("%s: %s writes profiles, not perf.data",
						    output->path, option),
					  "-o prof.pb.gz, or perf record %s", option);
	}
	return NULL;
}

void rotation_deinit(struct rotation *rotation)
{
	rotation_reset(rotation);
	free(rotation->next_reason);
	segments_deinit(&rotation->segments);
	segment_store_close(&rotation->store);
	history_free(rotation->history);
}

void rotation_begin(struct rotation *rotation)
{
	const struct record_config *config = &rotation->recording->config;
	const struct recording *recording = rotation->recording;

	rotation->checked_ns = clock_now_ns();
	if (rotation->options->segments.how == ROTATION_BY_TIME)
		plan_cut(rotation);
	if (rotation->options->keep_ns)
		rotation->history = history_new(recording->recorder, rotation->options->keep_ns,
						HISTORY_MODULES_MAX);
	rotation->reader = (struct trigger_reader){.proc = "/proc",
						   .pids = config->target.pids,
						   .pid_count = config->target.pid_count};
	if (config->target.command) {
		rotation->reader.pids = &config->target.command;
		rotation->reader.pid_count = 1;
	} else if (config->target.tid_count) {
		rotation->reader.pids = config->target.tids;
		rotation->reader.pid_count = config->target.tid_count;
	}
	if (rotation->options->triggers.count)
		trigger_read(&rotation->reader, rotation->checked_ns);
}

static bool is_checked(const struct rotation *rotation)
{
	const struct rotation_options *options = rotation->options;

	return options->segments.how == ROTATION_BY_SIZE || options->max_bytes ||
	       options->triggers.count;
}

static uint64_t rotation_earlier(uint64_t at_ns, uint64_t or_ns)
{
	return at_ns < or_ns ? at_ns : or_ns;
}

uint64_t rotation_next_ns(const struct rotation *rotation)
{
	uint64_t next_ns = is_checked(rotation) ? rotation->checked_ns + CHECK_NS : LOOP_FOREVER;

	if (rotation->options->segments.how == ROTATION_BY_TIME && !rotation->writer.pid)
		next_ns = rotation_earlier(next_ns, rotation->cut_ns);
	if (rotation->history)
		next_ns = rotation_earlier(next_ns, history_next_ns(rotation->history));
	return next_ns;
}

/* Does not write a file if nothing was sampled. */
static void cut_what_was_sampled(struct rotation *rotation)
{
	recorder_drain(rotation->recording->recorder);
	if (profile_samples(rotation_pipeline_of(rotation)->profile).count)
		rotation_cut(rotation, NULL);
	else
		plan_cut(rotation);
}

static void end_at_size(struct rotation *rotation, uint64_t bytes)
{
	uint64_t max_bytes = rotation->options->max_bytes;

	if (!max_bytes || rotation->segments.bytes + bytes < max_bytes ||
	    rotation->recording->end != RECORDING_RUNS)
		return;
	if (!rotation->output->quiet)
		message("stopped: the files have reached %s (--max-size)",
			humanize_bytes(max_bytes).text);
	recording_end(rotation->recording);
}

static void check_size(struct rotation *rotation)
{
	const struct rotation_choice *segments = &rotation->options->segments;
	uint64_t bytes = file_estimate_bytes(&rotation->estimate, rotation->at_end,
					     rotation_pipeline_of(rotation)->profile);

	if (segments->how == ROTATION_BY_SIZE && bytes >= segments->amount && !rotation->writer.pid)
		cut_what_was_sampled(rotation);
	else
		end_at_size(rotation, bytes + file_estimate_raw_bytes(rotation->at_end));
}

static void check_triggers(struct rotation *rotation, uint64_t now_ns)
{
	const struct triggers *triggers = &rotation->options->triggers;
	struct trigger_facts facts;

	if (!triggers->count)
		return;
	facts = trigger_read(&rotation->reader, now_ns);
	for (size_t i = 0; i < triggers->count; i++) {
		CLEANUP(free_ptr) char *reason = NULL;

		if (!trigger_fires(&triggers->items[i], &facts, now_ns, rotation->options->keep_ns))
			continue;
		reason = trigger_reason(&triggers->items[i], &facts);
		rotation_cut(rotation, reason);
	}
}

static void check_event(struct rotation *rotation, uint64_t now_ns)
{
	const char *event = rotation->recording->config.events.trigger;
	uint64_t count = recorder_trigger_count(rotation->recording->recorder);

	if (!event || count == rotation->trigger_count)
		return;
	rotation->trigger_count = count;
	if (now_ns < rotation->rest_ns)
		return;
	rotation->rest_ns = now_ns + rotation->options->keep_ns;
	rotation_cut(rotation, event);
}

void rotation_step(struct rotation *rotation)
{
	const struct rotation_options *options = rotation->options;
	uint64_t now_ns = clock_now_ns();

	check_event(rotation, now_ns);
	if (rotation->history && history_step(rotation->history))
		message("dropped the samples of the last seconds: too many files were mapped");
	if (options->segments.how == ROTATION_BY_TIME && !rotation->writer.pid &&
	    now_ns >= rotation->cut_ns)
		cut_what_was_sampled(rotation);
	/* A perf.data file grows by megabytes per second, so its size is checked in every step. */
	end_at_size(rotation, file_estimate_raw_bytes(rotation->at_end));
	if (!is_checked(rotation) || now_ns < rotation->checked_ns + CHECK_NS)
		return;
	rotation->checked_ns = now_ns;
	check_size(rotation);
	check_triggers(rotation, now_ns);
}

/* ---- The end ---- */

void rotation_end(struct rotation *rotation)
{
	/* The last profile has the samples of a cut that was still waiting. */
	rotation->is_wanted = false;
	forked_writer_wait(&rotation->writer);
	segment_merging_stop(&rotation->merging);
	if (rotation->history)
		history_cut(rotation->history);
}

struct error *rotation_open_last(struct rotation *rotation, struct outputs *outputs)
{
	bool cannot_repeat = outputs->cannot_repeat;

	outputs_close(outputs);
	*outputs = (struct outputs){
		.cannot_repeat = cannot_repeat, .make_room = rotation_make_room, .user = rotation};
	return rotation_open_outputs(rotation, outputs);
}

static const char *rotation_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

void rotation_finish(struct rotation *rotation, bool is_written)
{
	uint64_t max = rotation->options->max_segments;

	if (max && is_written)
		segments_keep(&rotation->segments, max - 1);
	if (rotation->failed)
		message("%" PRIu64 " profile%s could not be written", rotation->failed,
			rotation_plural(rotation->failed));
	if (rotation->store.directory.path && is_written)
		segment_store_retain(&rotation->store, clock_unix_ns());
	if (rotation->output->quiet || !rotation->written)
		return;
	message("wrote %" PRIu64 " profile%s%s", rotation->written,
		rotation_plural(rotation->written), is_written ? " before this one" : "");
	if (rotation->store.removed)
		message("removed %" PRIu64 " segment%s from %s (--keep, --max-size)",
			rotation->store.removed, rotation_plural(rotation->store.removed),
			rotation->store.directory.path);
	if (rotation->segments.removed)
		message("removed the %" PRIu64 " oldest of them (--switch-max-files %" PRIu64 ")",
			rotation->segments.removed, max);
}
