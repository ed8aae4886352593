#include "cmd/record/checkpoint.h"

#include "base/clock.h"
#include "cmd/ui/message.h"
#include "profile/tasks.h"

/* A checkpoint may cost one thousandth (0.1 %) of the CPU time since the last
 * one started. */
enum { COST_SHARE = 1000 };

/* CPU time to write an entry of a profile, before it has been measured. */
#define FIRST_NS_PER_ENTRY 500.0

static const struct pipeline *checkpoint_pipeline_of(const struct checkpoints *checkpoints)
{
	return recorder_pipeline(checkpoints->recording->recorder);
}

static uint64_t count_entries(const struct checkpoints *checkpoints)
{
	const struct profile *profile = checkpoint_pipeline_of(checkpoints)->profile;

	return profile_samples(profile).count + profile_stacks(profile).count +
	       profile_frame_count(profile) + profile_timed_samples(profile).count;
}

/* Returns false for records, which the recorder writes. */
static bool is_profile(const struct output *output)
{
	return output->is_file && output->format->write;
}

static bool has_profiles(const struct checkpoints *checkpoints)
{
	for (size_t i = 0; i < checkpoints->outputs->count; i++)
		if (is_profile(&checkpoints->outputs->items[i]))
			return true;
	return false;
}

void checkpoints_begin(struct checkpoints *checkpoints)
{
	checkpoints->last_ns = clock_now_ns();
	checkpoints->ns_per_entry = FIRST_NS_PER_ENTRY;
}

uint64_t checkpoint_wait_ns(struct checkpoint_interval interval, uint64_t cost_ns)
{
	uint64_t affordable_ns = cost_ns * COST_SHARE;

	return interval.is_shortest && affordable_ns > interval.ns ? affordable_ns : interval.ns;
}

uint64_t checkpoints_next_ns(const struct checkpoints *checkpoints)
{
	double cost_ns;

	if (!checkpoints->interval.ns || checkpoints->writer.pid)
		return LOOP_FOREVER;
	cost_ns = checkpoints->ns_per_entry * (double)count_entries(checkpoints);
	return checkpoints->last_ns + checkpoint_wait_ns(checkpoints->interval, (uint64_t)cost_ns);
}

static void checkpoint_fail(struct checkpoints *checkpoints, struct error *err)
{
	if (checkpoints->has_failed)
		error_free(err);
	else
		message_error(error_wrap(err, "checkpoint"));
	checkpoints->has_failed = true;
}

/* Returns the number of files that the child can write. */
static unsigned prepare_files(struct checkpoints *checkpoints)
{
	unsigned prepared = 0;

	for (size_t i = 0; i < checkpoints->outputs->count; i++) {
		struct output *output = &checkpoints->outputs->items[i];
		struct error *err;

		if (!output->is_file)
			continue;
		if (is_profile(output)) {
			err = output_prepare(output);
			prepared += !err;
		} else {
			recorder_flush_raw(checkpoints->recording->recorder);
			err = output_publish_growing(output);
		}
		if (err)
			checkpoint_fail(checkpoints, err);
	}
	return prepared;
}

static int write_files(void *user)
{
	struct checkpoints *checkpoints = user;

	/* The recording continues; later samples do not have these labels. */
	tasks_label(checkpoint_pipeline_of(checkpoints)->profile);
	return !checkpoints->write(checkpoints->user, !checkpoints->has_failed);
}

static void checkpoint_on_written(void *user, const struct forked_child_end *end)
{
	struct checkpoints *checkpoints = user;
	bool is_written = true;

	checkpoints->ns_per_entry = (double)(checkpoints->own_cpu_ns + end->cpu_ns) /
				    (double)(checkpoints->last_entries + 1);
	checkpoints->has_failed |= end->status != 0;
	for (size_t i = 0; i < checkpoints->outputs->count; i++) {
		struct output *output = &checkpoints->outputs->items[i];

		if (is_profile(output))
			is_written &= output_take_prepared(output);
	}
	if (is_written)
		checkpoints->written_seconds = checkpoints->writing_seconds;
}

static void start_writer(struct checkpoints *checkpoints)
{
	struct error *err = forked_writer_start(&checkpoints->writer, checkpoints->recording->loop,
						FORKED_CHILD_LIVES_ON, write_files,
						checkpoint_on_written, checkpoints);

	if (err)
		checkpoint_fail(checkpoints, err);
}

/* Includes the CPU time of the workers. */
static uint64_t own_cpu_ns(const struct checkpoints *checkpoints)
{
	return clock_own_cpu_ns() + kept_symbolizer_cpu_ns(checkpoints->symbolizer);
}

static void checkpoint_make(struct checkpoints *checkpoints)
{
	bool is_first = !checkpoints->symbolizer->symbolizer;
	uint64_t cpu_ns = own_cpu_ns(checkpoints);

	checkpoints->last_ns = clock_now_ns();
	checkpoints->writing_seconds = recording_seconds(checkpoints->recording);
	if (has_profiles(checkpoints) && !kept_symbolizer_run(checkpoints->symbolizer))
		return;
	checkpoints->last_entries = count_entries(checkpoints);
	/* The first checkpoint symbolizes most frames, so the end of the
	 * recording need not. */
	if (is_first)
		cpu_ns = own_cpu_ns(checkpoints);
	if (prepare_files(checkpoints))
		start_writer(checkpoints);
	checkpoints->own_cpu_ns = own_cpu_ns(checkpoints) - cpu_ns;
}

void checkpoints_step(struct checkpoints *checkpoints)
{
	struct signal_guard *guard = checkpoints->recording->signals.guard;

	if (clock_now_ns() < checkpoints_next_ns(checkpoints))
		return;
	/* The main thread waits for the worker threads that symbolize. */
	signal_guard_begin(guard, SIGNAL_PHASE_WORKING);
	checkpoint_make(checkpoints);
	signal_guard_begin(guard, SIGNAL_PHASE_LISTENING);
}

void checkpoints_end(struct checkpoints *checkpoints)
{
	/* The final files replace those of the child. */
	forked_writer_kill(&checkpoints->writer);
}
