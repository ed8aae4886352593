#include "report/harness.h"

#include "sample_profile.h"
#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

static struct profile *new_profile(void)
{
	struct profile *profile = profile_new();

	add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	profile_describe_module(profile, 0, &(struct profile_module){.kind = PROFILE_MODULE_NONE});
	return profile;
}

static stack_id push(struct profile *profile, stack_id parent, const char *name)
{
	string_id text = text_of(profile, name);
	function_id function = profile_function(
		profile, &(struct profile_function){.name = text, .system_name = text});
	struct profile_line line = {.function = function};

	return profile_push(profile, parent, profile_named_frame(profile, 0, 0, &line, 1));
}

/* Makes a profile in which a function called by `harness` has `weight` percent. */
static struct profile *profile_below(const char *harness, uint64_t weight)
{
	struct profile *profile = new_profile();
	label_set_id labels = profile_thread_labels(profile, 1, 1, "app", "app");
	stack_id root = push(profile, STACK_EMPTY, "main");
	stack_id below = push(profile, push(profile, root, harness), "parse");

	profile_add(profile, labels, below, 0, weight);
	profile_add(profile, labels, push(profile, root, "setup"), 0, 100 - weight);
	return profile;
}

static void assert_harness(const char *function, const char *expected)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_below(function, 90);
	const char *harness = harness_of(profile, 0);

	if (expected)
		assert_string_equal(harness, expected);
	else
		assert_null(harness);
}

TEST(a_harness_is_known_by_its_functions)
{
	assert_harness("criterion::bencher::Bencher<M>::iter", "criterion");
	assert_harness("<criterion::routine::Function<M, F, T> as Routine<M, T>>::bench",
		       "criterion");
	assert_harness("divan::bench::BenchContext::bench_loop_threaded", "divan");
	assert_harness("test::bench::benchmark", "libtest");
	assert_harness("benchmark::internal::BenchmarkRunner::DoNIterations", "Google Benchmark");
	assert_harness("testing.(*B).runN", "Go's testing");
}

TEST(programs_run_without_a_harness)
{
	assert_harness("run", NULL);
	assert_harness("my_criterion::run", NULL);
	assert_harness("criterion_main", NULL);
}

TEST(a_harness_that_does_little_does_not_count)
{
	CLEANUP(profile_cleanup) struct profile *half = profile_below("criterion::x", 50);
	CLEANUP(profile_cleanup) struct profile *less = profile_below("criterion::x", 49);

	assert_string_equal(harness_of(half, 0), "criterion");
	assert_null(harness_of(less, 0));
}

TEST(a_profile_without_samples_has_no_harness)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_profile();

	assert_null(harness_of(profile, 0));
}
