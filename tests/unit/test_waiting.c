#include "report/waiting.h"
#include "waiting/reason.h"

#include "unit_test.h"
#include "waiting_profile.h"

#include <string.h>

static void assert_text(const struct profile *profile, const char *expected)
{
	struct waiting_quality sums;

	assert_true(waiting_sums(profile, &sums));
	CLEANUP(free_ptr) char *text = waiting_text(&sums);
	assert_string_equal(text, expected);
}

TEST(profiles_of_earlier_versions_have_another_name_for_runnable)
{
	assert_true(waiting_is_runnable(REASON_RUNNABLE));
	assert_true(waiting_is_runnable("[wanted a CPU]"));
	assert_false(waiting_is_runnable("[futex]"));
}

TEST(the_sums_are_those_of_the_recorder)
{
	CLEANUP(profile_cleanup) struct profile *profile = waiting_profile(false);
	struct profile_info info = *profile_get_info(profile);

	info.quality.waiting = (struct waiting_quality){.threads = 12,
							.thread_ns = 12000000000,
							.running_ns = 3100000000,
							.wanted_ns = 400000000,
							.waiting_ns = 8500000000};
	profile_set_info(profile, &info);
	assert_text(profile, "12.0 thread-seconds: 3.1 on CPU, 0.4 runnable, 8.5 waiting");
}

TEST(a_file_without_sums_has_them_in_its_samples)
{
	CLEANUP(profile_cleanup) struct profile *profile = waiting_profile(false);

	assert_text(profile, "2.00 thread-seconds: 0.50 on CPU, 0.10 runnable, 1.40 waiting");
}

TEST(the_reason_runnable_is_that_of_the_recorder)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	label_set_id thread = profile_thread_labels(profile, 1, 1, "p", "p");
	event_id cpu = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	event_id off = add_event(profile, "off-cpu", VALUE_OFF_CPU_TIME);

	profile_add(profile, thread, STACK(profile, "f"), cpu, MS);
	profile_add(profile, thread, reason_at(profile, STACK_EMPTY, REASON_RUNNABLE), off, MS);
	profile_add(profile, thread, STACK_EMPTY, off, MS);
	assert_text(profile, "0.003 thread-seconds: 0.001 on CPU, 0.001 runnable, 0.001 waiting");
}

TEST(without_waiting_or_cpu_time_the_whole_is_unknown)
{
	CLEANUP(profile_cleanup) struct profile *shop = shop_profile();
	CLEANUP(profile_cleanup) struct profile *alone = profile_new();
	struct waiting_quality sums;
	event_id event;

	assert_false(waiting_sums(shop, &sums));
	assert_false(waiting_event(shop, &event));
	assert_false(waiting_adds_to(shop, 0, &event));
	add_event(alone, "off-cpu", VALUE_OFF_CPU_TIME);
	assert_false(waiting_sums(alone, &sums));
	assert_true(waiting_event(alone, &event));
	assert_false(waiting_adds_to(alone, 0, &event));
}

TEST(how_waiting_was_placed_is_said_where_it_matters)
{
	struct waiting_quality sums = {.threads = 1, .waiting_ns = 1000, .proved_ns = 990};
	CLEANUP(free_ptr) char *good = waiting_places_text(&sums);

	assert_null(good);
	sums.proved_ns = 960;
	sums.spread_ns = 20;
	sums.sampled_ns = 10;
	sums.placeless_ns = 10;
	CLEANUP(free_ptr) char *text = waiting_places_text(&sums);
	assert_string_equal(text,
			    "96.0 % of the waiting time has a stack read during the wait, 2.0 % is "
			    "attributed to other waits of the same threads, 1.0 % has a stack from "
			    "the context switch, 1.0 % has no stack");
	sums = (struct waiting_quality){
		.threads = 1, .waiting_ns = 1000, .proved_ns = 1000, .frameless_ns = 100};
	CLEANUP(free_ptr) char *frameless = waiting_places_text(&sums);
	assert_string_equal(frameless, "100.0 % of the waiting time has a stack read during the "
				       "wait, 10.0 % lacks its Python frames");
	sums.threads = 0;
	assert_null(waiting_places_text(&sums));
	assert_null(waiting_left_out_text(&sums));
	sums.left_out_ns = 12000000;
	CLEANUP(free_ptr) char *left_out = waiting_left_out_text(&sums);
	assert_string_equal(left_out, "12 ms of waiting were omitted: short waits or idle threads");
}
