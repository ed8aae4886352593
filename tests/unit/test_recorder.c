/*
 * The recorder on this process: needs a kernel that lets us sample with cpu-clock; without one the
 * tests are skipped.
 */
#include "record/recorder.h"

#include "base/clock.h"
#include "unwind/unwind.h"

#include "lacking.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

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

/* False: it cannot be opened here. */
static bool start(struct fixture *f)
{
	struct error *err;

	f->pid = getpid();
	f->config.events = cpu_clock;
	f->config.event_count = 1;
	f->config.frequency_hz = RECORD_FREQUENCY_HZ;
	f->config.pids = &f->pid;
	f->config.pid_count = 1;
	f->config.depth = UNWIND_DEPTH_MAX;
	f->config.debug_dir = "/usr/lib/debug";
	f->config.call_graph = CALL_GRAPH_FP;
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

static uint64_t samples(const struct fixture *f)
{
	return session_counts(recorder_pipeline(f->recorder)->session)->samples;
}

static void work_until_sampled(struct fixture *f)
{
	uint64_t before = samples(f);

	while (samples(f) == before)
		loop_run(f->loop, 0);
}

static void samples_come_while_the_loop_runs(void **state)
{
	(void)state;
	CLEANUP(fixture_deinit) struct fixture f = {0};

	if (!start(&f))
		RETURN_LACKING("no right to sample");
	work_until_sampled(&f);
	assert_int_equal(recorder_end(f.recorder), RECORDER_RUNS);
	recorder_stop(f.recorder);
	assert_true(profile_samples(recorder_pipeline(f.recorder)->profile).count > 0);
}

static void it_ends_with_its_duration(void **state)
{
	(void)state;
	CLEANUP(fixture_deinit) struct fixture f = {.config.duration_ns = 20 * NS_PER_MS};
	struct recorder_window window;

	if (!start(&f))
		RETURN_LACKING("no right to sample");
	while (recorder_end(f.recorder) == RECORDER_RUNS)
		loop_run(f.loop, LOOP_FOREVER);
	assert_int_equal(recorder_end(f.recorder), RECORDER_DURATION_OVER);
	window = recorder_window(f.recorder);
	assert_true(window.end_ns - window.start_ns >= f.config.duration_ns);
}

static void a_rotation_hands_out_the_profile_so_far(void **state)
{
	(void)state;
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

/* A caller that has counted a profile loses what is added to it later. */
static void a_rotation_adds_nothing_to_the_profile_that_it_ends(void **state)
{
	(void)state;
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

static void two_recordings_share_a_loop(void **state)
{
	(void)state;
	CLEANUP(fixture_deinit) struct fixture f = {0};
	struct recorder *other = NULL;

	if (!start(&f))
		RETURN_LACKING("no right to sample");
	assert_null(recorder_new(&f.config, NULL, &other));
	assert_null(recorder_open(other, f.loop, -1));
	assert_null(recorder_start(other));
	while (!session_counts(recorder_pipeline(other)->session)->samples)
		work_until_sampled(&f);
	recorder_free(other);
	work_until_sampled(&f);
}

#define TEST(function) cmocka_unit_test(function)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(samples_come_while_the_loop_runs),
		TEST(it_ends_with_its_duration),
		TEST(a_rotation_hands_out_the_profile_so_far),
		TEST(a_rotation_adds_nothing_to_the_profile_that_it_ends),
		TEST(two_recordings_share_a_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
