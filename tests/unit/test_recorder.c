/*
 * The recorder on this process. The tests need a kernel that allows sampling
 * with cpu-clock, and are skipped otherwise.
 */
#include "record/recorder.h"

#include "base/clock.h"

#include "elsewhere.h"
#include "lacking.h"
#include "unit_test.h"

#include <stdint.h>

struct fixture {
	struct record_config config;
	struct loop *loop;
	struct recorder *recorder;
	pid_t pid;
};

static char name[] = "cpu-clock", *cpu_clock[] = {name};

static void fixture_deinit(struct fixture *f)
{
	recorder_free(f->recorder);
	loop_free(f->loop);
}

/* Returns false if the recorder cannot be opened here. */
static bool start_with(struct fixture *f, enum call_graph call_graph)
{
	struct error *err;

	f->pid = getpid();
	f->config.events.names = cpu_clock;
	f->config.events.count = 1;
	f->config.events.frequency_hz = RECORD_FREQUENCY_HZ;
	f->config.target.pids = &f->pid;
	f->config.target.pid_count = 1;
	f->config.stacks.depth = RECORD_DEPTH;
	f->config.target.keeps_own = true;
	f->config.output.debug_dir = "/usr/lib/debug";
	f->config.stacks.call_graph = call_graph;
	f->config.stacks.dump_bytes = 4096;
	assert_null(loop_new(&f->loop));
	assert_null(recorder_new(&f->config, NULL, &f->recorder));
	err = recorder_open(f->recorder, f->loop, -1);
	if (err) {
		error_free(err);
		return false;
	}
	assert_null(recorder_start(f->recorder));
	return true;
}

static bool start(struct fixture *f)
{
	return start_with(f, CALL_GRAPH_FP);
}

static uint64_t samples(const struct fixture *f)
{
	return session_counts(recorder_pipeline(f->recorder)->session)->quality.samples;
}

static void work_until_sampled(struct fixture *f)
{
	uint64_t before = samples(f);

	while (samples(f) == before)
		loop_run(f->loop, 0);
}

TEST(it_ends_with_its_duration)
{
	CLEANUP(fixture_deinit) struct fixture f = {.config.control.duration_ns = 20 * NS_PER_MS};
	struct recorder_window window;

	if (!start(&f))
		RETURN_LACKING("no right to sample");
	while (recorder_end(f.recorder) == RECORDER_RUNS)
		loop_run(f.loop, LOOP_FOREVER);
	assert_int_equal(recorder_end(f.recorder), RECORDER_DURATION_OVER);
	window = recorder_window(f.recorder);
	assert_true(window.end_ns - window.start_ns >= f.config.control.duration_ns);
}

TEST(a_rotation_hands_out_the_profile_so_far)
{
	CLEANUP(fixture_deinit) struct fixture f = {0};
	CLEANUP(profile_cleanup) struct profile *finished = NULL;
	struct recorder_window first, second;

	if (!start(&f))
		RETURN_LACKING("no right to sample");
	work_until_sampled(&f);
	finished = recorder_rotate(f.recorder, &first);
	assert_true(profile_samples(finished).count > 0);
	assert_int_equal(samples(&f), 0);
	work_until_sampled(&f);
	profile_free(recorder_rotate(f.recorder, &second));
	assert_int_equal(second.start_ns, first.end_ns);
	assert_true(second.end_ns > second.start_ns);
	assert_int_equal(recorder_window(f.recorder).start_ns, first.start_ns);
}

static void use_cpu(uint64_t ns)
{
	uint64_t until_ns = clock_own_cpu_ns() + ns;

	while (clock_own_cpu_ns() < until_ns)
		continue;
}

/* A caller that has counted a profile would miss data that is added later. */
TEST(a_rotation_adds_nothing_to_the_profile_that_it_ends)
{
	CLEANUP(fixture_deinit) struct fixture f = {0};
	CLEANUP(profile_cleanup) struct profile *finished = NULL;
	struct recorder_window window;
	uint64_t counted, count = 0;

	if (!start(&f))
		RETURN_LACKING("no right to sample");
	work_until_sampled(&f);
	counted = samples(&f);
	use_cpu(50 * NS_PER_MS);
	finished = recorder_rotate(f.recorder, &window);
	for (uint64_t i = 0; i < profile_samples(finished).count; i++)
		count += profile_samples(finished).items[i].samples;
	assert_int_equal(count, counted);
	recorder_drain(f.recorder);
	assert_true(samples(&f) > 0);
}

TEST(nothing_is_sampled_in_a_pause)
{
	CLEANUP(fixture_deinit) struct fixture f = {0};
	struct recorder_window window;
	uint64_t before;

	if (!start(&f))
		RETURN_LACKING("no right to sample");
	work_until_sampled(&f);
	recorder_pause(f.recorder);
	before = samples(&f);
	window = recorder_window(f.recorder);
	use_cpu(50 * NS_PER_MS);
	recorder_drain(f.recorder);
	assert_true(recorder_is_paused(f.recorder));
	assert_int_equal(samples(&f), before);
	assert_int_equal(recorder_window(f.recorder).end_ns, window.end_ns);
	assert_null(recorder_resume(f.recorder));
	work_until_sampled(&f);
	assert_true(recorder_window(f.recorder).end_ns >= window.end_ns + 50 * NS_PER_MS);
	assert_int_equal(recorder_window(f.recorder).start_ns, window.start_ns);
}

TEST(a_recording_that_starts_paused_begins_when_it_is_resumed)
{
	CLEANUP(fixture_deinit) struct fixture f = {.config.control.starts_paused = true};
	uint64_t resumed_ns;

	if (!start(&f))
		RETURN_LACKING("no right to sample");
	use_cpu(50 * NS_PER_MS);
	recorder_drain(f.recorder);
	assert_int_equal(samples(&f), 0);
	resumed_ns = clock_now_ns();
	assert_null(recorder_resume(f.recorder));
	assert_true(recorder_window(f.recorder).start_ns >= resumed_ns);
	work_until_sampled(&f);
	recorder_stop(f.recorder);
}

/* Otherwise, the time that the kernel counted in the pause would appear as
 * unsampled. */
TEST(a_pause_is_not_taken_for_time_that_was_not_sampled)
{
	CLEANUP(fixture_deinit) struct fixture f = {0};
	uint64_t counted, begin_ns = clock_own_cpu_ns(), before_ns = elsewhere_ns(), used_ns;

	if (!start(&f))
		RETURN_LACKING("no right to sample");
	use_cpu(20 * NS_PER_MS);
	recorder_pause(f.recorder);
	use_cpu(100 * NS_PER_MS);
	assert_null(recorder_resume(f.recorder));
	use_cpu(20 * NS_PER_MS);
	recorder_stop(f.recorder);
	used_ns = clock_own_cpu_ns() - begin_ns - 100 * NS_PER_MS;
	recorder_settle(f.recorder);
	assert_true(unsampled_counted(recorder_unsampled(f.recorder), 0, &counted));
	assert_in_range(counted, 36 * NS_PER_MS,
			used_ns + 4 * NS_PER_MS + elsewhere_since_ns(before_ns));
}

TEST(a_pause_prolongs_the_recording)
{
	CLEANUP(fixture_deinit) struct fixture f = {.config.control.duration_ns = 20 * NS_PER_MS};
	struct recorder_window window;

	if (!start(&f))
		RETURN_LACKING("no right to sample");
	recorder_pause(f.recorder);
	loop_run(f.loop, clock_now_ns() + 50 * NS_PER_MS);
	use_cpu(50 * NS_PER_MS);
	loop_run(f.loop, 0);
	assert_int_equal(recorder_end(f.recorder), RECORDER_RUNS);
	assert_null(recorder_resume(f.recorder));
	while (recorder_end(f.recorder) == RECORDER_RUNS)
		loop_run(f.loop, LOOP_FOREVER);
	window = recorder_window(f.recorder);
	assert_true(window.end_ns - window.start_ns >= 70 * NS_PER_MS);
}

/* The second profile starts with the samples after the pause. */
TEST(a_rotation_in_a_pause_leaves_the_pause_out)
{
	CLEANUP(fixture_deinit) struct fixture f = {0};
	struct recorder_window first, second;
	uint64_t resumed_ns;

	if (!start(&f))
		RETURN_LACKING("no right to sample");
	work_until_sampled(&f);
	recorder_pause(f.recorder);
	profile_free(recorder_rotate(f.recorder, &first));
	use_cpu(20 * NS_PER_MS);
	resumed_ns = clock_now_ns();
	assert_null(recorder_resume(f.recorder));
	work_until_sampled(&f);
	profile_free(recorder_rotate(f.recorder, &second));
	assert_true(first.end_ns < resumed_ns);
	assert_true(second.start_ns >= resumed_ns);
	assert_true(second.end_ns > second.start_ns);
}

/* Reads about 50 samples at once. Returns false if one of their stacks is
 * truncated. */
static bool next_stacks_are_complete(struct fixture *f)
{
	const struct session_counts *counts =
		session_counts(recorder_pipeline(f->recorder)->session);
	struct session_counts before = *counts;

	use_cpu(50 * NS_PER_MS);
	recorder_drain(f->recorder);
	return counts->user_stacks > before.user_stacks &&
	       counts->quality.truncated == before.quality.truncated;
}

/* Stacks are complete as soon as the call frame information has been read. */
TEST(stacks_are_complete)
{
	CLEANUP(fixture_deinit) struct fixture f = {0};

	if (!start_with(&f, CALL_GRAPH_DWARF))
		RETURN_LACKING("no right to sample");
	while (!next_stacks_are_complete(&f))
		continue;
	recorder_stop(f.recorder);
}

TEST(two_recordings_share_a_loop)
{
	CLEANUP(fixture_deinit) struct fixture f = {0};
	struct recorder *other = NULL;

	if (!start(&f))
		RETURN_LACKING("no right to sample");
	assert_null(recorder_new(&f.config, NULL, &other));
	assert_null(recorder_open(other, f.loop, -1));
	assert_null(recorder_start(other));
	while (!session_counts(recorder_pipeline(other)->session)->quality.samples)
		work_until_sampled(&f);
	recorder_free(other);
	work_until_sampled(&f);
}
