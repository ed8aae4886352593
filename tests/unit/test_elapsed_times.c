#include "waiting/elapsed_times.h"

#include "base/alloc.h"

#include "unit_test.h"

enum { PID = 100, TID = 101, OTHER = 102, MOST_PARTS = 4096, MS = 1000000 };

static struct elapsed_times *times;

static struct {
	struct elapsed_part items[MOST_PARTS];
	size_t count;
} parts;

static void take_part(void *user, const struct elapsed_part *part)
{
	(void)user;
	assert_true(parts.count < MOST_PARTS);
	assert_true(part->weight_ns > 0);
	assert_true(part->weight_ns <= part->end_ns - part->start_ns);
	parts.items[parts.count++] = *part;
}

static int set_up(void **state)
{
	(void)state;
	times = elapsed_times_new((struct elapsed_sink){take_part, NULL});
	parts.count = 0;
	elapsed_times_resume(times, 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	elapsed_times_free(times);
	return 0;
}

static void in(pid_t tid, uint64_t at_ns)
{
	elapsed_times_switch(times, tid, at_ns, false);
}

static void out(pid_t tid, uint64_t at_ns)
{
	elapsed_times_switch(times, tid, at_ns, true);
}

static void settle(uint64_t now_ns)
{
	elapsed_times_begin_settling(times, now_ns);
	elapsed_times_settle(times, true);
}

static uint64_t weight(pid_t tid, wait_place place)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < parts.count; i++)
		if (parts.items[i].tid == tid && parts.items[i].place == place)
			sum += parts.items[i].weight_ns;
	return sum;
}

static uint64_t weight_of_parallelism(unsigned parallelism)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < parts.count; i++)
		if (parts.items[i].parallelism == parallelism)
			sum += parts.items[i].weight_ns;
	return sum;
}

static uint64_t whole_weight(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < parts.count; i++)
		sum += parts.items[i].weight_ns;
	return sum;
}

TEST_WITH(set_up, tear_down, a_moment_is_shared_among_the_threads_that_run)
{
	elapsed_times_begin(times, PID, TID, 0, true);
	elapsed_times_begin(times, PID, OTHER, 0, false);
	in(OTHER, 4 * MS);
	elapsed_times_sampled(times, TID, 10 * MS, 1);
	elapsed_times_sampled(times, OTHER, 10 * MS, 2);
	settle(10 * MS);
	assert_int_equal(weight(TID, 1), 4 * MS + 3 * MS);
	assert_int_equal(weight(OTHER, 2), 3 * MS);
	assert_int_equal(weight_of_parallelism(1), 4 * MS);
	assert_int_equal(weight_of_parallelism(2), 6 * MS);
}

TEST_WITH(set_up, tear_down, a_thread_without_a_sample_keeps_its_share_for_the_next_one)
{
	elapsed_times_begin(times, PID, TID, 0, true);
	out(TID, 1 * MS);
	in(TID, 5 * MS);
	elapsed_times_sampled(times, TID, 6 * MS, 1);
	assert_int_equal(weight(TID, 1), 2 * MS);
}

TEST_WITH(set_up, tear_down, a_thread_that_ends_gives_the_rest_to_its_last_place)
{
	elapsed_times_begin(times, PID, TID, 0, true);
	elapsed_times_sampled(times, TID, 2 * MS, 1);
	elapsed_times_end(times, TID, 3 * MS);
	elapsed_times_begin(times, PID, OTHER, 3 * MS, true);
	elapsed_times_end(times, OTHER, 4 * MS);
	assert_int_equal(weight(TID, 1), 3 * MS);
	assert_int_equal(weight(OTHER, PLACE_UNKNOWN), 1 * MS);
}

TEST_WITH(set_up, tear_down, a_silence_belongs_to_the_wait_that_ends_it)
{
	elapsed_times_begin(times, PID, TID, 0, true);
	elapsed_times_begin(times, PID, OTHER, 0, false);
	out(TID, 1 * MS);
	in(OTHER, 5 * MS);
	elapsed_times_waited(times, PID, TID, 1 * MS, 5 * MS, 7);
	elapsed_times_waited(times, PID, OTHER, 0, 5 * MS, 8);
	elapsed_times_settle(times, false);
	assert_int_equal(weight(OTHER, 8), 4 * MS);
	assert_int_equal(weight_of_parallelism(0), 4 * MS);
}

TEST_WITH(set_up, tear_down, the_parts_of_a_wait_divide_its_silence)
{
	elapsed_times_begin(times, PID, TID, 0, true);
	out(TID, 1 * MS);
	in(TID, 5 * MS);
	/* It was runnable for the last millisecond. */
	elapsed_times_waited(times, PID, TID, 4 * MS, 5 * MS, 8);
	elapsed_times_waited(times, PID, TID, 1 * MS, 4 * MS, 7);
	elapsed_times_settle(times, false);
	assert_int_equal(weight(TID, 7), 3 * MS);
	assert_int_equal(weight(TID, 8), 1 * MS);
}

TEST_WITH(set_up, tear_down, a_silence_that_nothing_ends_belongs_to_the_wait_that_began_it)
{
	elapsed_times_begin(times, PID, PID, 0, false);
	elapsed_times_begin(times, PID, TID, 0, true);
	out(TID, 1 * MS);
	elapsed_times_begin_settling(times, 9 * MS);
	elapsed_times_waited(times, PID, PID, 0, 9 * MS, 7);
	elapsed_times_waited(times, PID, TID, 1 * MS, 9 * MS, 8);
	elapsed_times_settle(times, true);
	assert_int_equal(weight(TID, 8), 8 * MS);
}

TEST_WITH(set_up, tear_down, if_the_thread_that_began_it_has_ended_it_belongs_to_the_main_thread)
{
	elapsed_times_begin(times, PID, PID, 0, false);
	elapsed_times_begin(times, PID, TID, 0, true);
	elapsed_times_end(times, TID, 1 * MS);
	elapsed_times_begin_settling(times, 9 * MS);
	elapsed_times_waited(times, PID, PID, 0, 9 * MS, 7);
	elapsed_times_settle(times, true);
	assert_int_equal(weight(PID, 7), 8 * MS);
}

TEST_WITH(set_up, tear_down, a_thread_that_has_ended_still_gets_the_place_of_its_silence)
{
	elapsed_times_begin(times, PID, TID, 0, false);
	in(TID, 3 * MS);
	elapsed_times_end(times, TID, 4 * MS);
	elapsed_times_begin(times, PID, TID, 4 * MS, true);
	elapsed_times_waited(times, PID, -1, 0, 3 * MS, 7);
	assert_int_equal(weight(TID, 7), 3 * MS);
}

TEST_WITH(set_up, tear_down, a_thread_that_ends_has_run_and_ended_a_silence)
{
	elapsed_times_begin(times, PID, TID, 0, false);
	elapsed_times_end(times, TID, 3 * MS);
	elapsed_times_waited(times, PID, TID, 0, 3 * MS, 7);
	assert_int_equal(weight(TID, 7), 3 * MS);
}

TEST_WITH(set_up, tear_down, a_silence_without_a_wait_is_unknown)
{
	elapsed_times_begin(times, PID, TID, 0, false);
	in(TID, 3 * MS);
	settle(3 * MS);
	assert_int_equal(weight(TID, PLACE_UNKNOWN), 3 * MS);
	assert_int_equal(weight_of_parallelism(0), 3 * MS);
}

TEST_WITH(set_up, tear_down, a_pause_is_not_counted)
{
	elapsed_times_begin(times, PID, TID, 0, true);
	elapsed_times_pause(times, 2 * MS);
	out(TID, 3 * MS);
	elapsed_times_resume(times, 8 * MS);
	in(TID, 9 * MS);
	elapsed_times_sampled(times, TID, 10 * MS, 1);
	settle(10 * MS);
	assert_int_equal(weight(TID, 1), 2 * MS + 1 * MS);
	assert_int_equal(weight_of_parallelism(0), 1 * MS);
}

TEST_WITH(set_up, tear_down, time_after_the_last_thread_is_not_counted)
{
	elapsed_times_begin(times, PID, TID, 2 * MS, true);
	elapsed_times_end(times, TID, 5 * MS);
	settle(20 * MS);
	assert_int_equal(whole_weight(), 3 * MS);
}

TEST_WITH(set_up, tear_down, an_exec_ends_the_other_threads_and_forgets_places)
{
	elapsed_times_begin(times, PID, PID, 0, true);
	elapsed_times_begin(times, PID, TID, 0, true);
	elapsed_times_sampled(times, PID, 1 * MS, 1);
	elapsed_times_exec(times, PID, PID, 3 * MS);
	settle(4 * MS);
	assert_int_equal(whole_weight(), 4 * MS);
	assert_int_equal(weight(PID, PLACE_UNKNOWN), 1 * MS);
}

TEST_WITH(set_up, tear_down, a_profile_in_progress_keeps_what_has_no_place_yet)
{
	elapsed_times_begin(times, PID, TID, 0, true);
	out(TID, 1 * MS);
	in(TID, 3 * MS);
	elapsed_times_begin_settling(times, 4 * MS);
	elapsed_times_settle(times, false);
	assert_int_equal(whole_weight(), 0);
	elapsed_times_waited(times, PID, TID, 1 * MS, 3 * MS, 7);
	elapsed_times_sampled(times, TID, 4 * MS, 1);
	elapsed_times_settle(times, false);
	assert_int_equal(weight(TID, 7), 2 * MS);
	assert_int_equal(weight(TID, 1), 2 * MS);
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

TEST_WITH(set_up, tear_down, thousands_of_short_silences_are_few_parts)
{
	enum { SILENCES = 10000, SILENCE_NS = 10000 };

	elapsed_times_begin(times, PID, TID, 0, true);
	elapsed_times_begin(times, PID, OTHER, 0, true);
	out(OTHER, 0);
	for (uint64_t i = 0; i < SILENCES; i++) {
		uint64_t at_ns = i * 2 * SILENCE_NS;

		out(TID, at_ns);
		in(TID, at_ns + SILENCE_NS);
		elapsed_times_waited(times, PID, TID, at_ns, at_ns + SILENCE_NS, 1);
		/* No wait is passed for the other thread. */
		out(TID, at_ns + SILENCE_NS);
		in(OTHER, at_ns + 2 * SILENCE_NS);
		in(TID, at_ns + 2 * SILENCE_NS);
		out(OTHER, at_ns + 2 * SILENCE_NS);
	}
	out(TID, SILENCES * 2 * SILENCE_NS);
	settle(SILENCES * 2 * SILENCE_NS);
	assert_int_equal(weight(TID, 1), (uint64_t)SILENCES * SILENCE_NS);
	assert_int_equal(weight(OTHER, PLACE_UNKNOWN), (uint64_t)SILENCES * SILENCE_NS);
	/* One each in 2 ms. */
	assert_true(parts.count <= 2 * (SILENCES * 2 * SILENCE_NS / (2 * MS) + 1));
}

TEST_WITH(set_up, tear_down, whatever_happens_the_parts_add_up_to_the_time)
{
	enum { THREADS = 6, STEPS = 1500 };

	for (uint32_t round = 1; round <= 20; round++) {
		uint32_t seed = round;
		uint64_t now_ns = 0, slack_ns = THREADS * 64;

		elapsed_times_begin(times, PID, PID, 0, true);
		for (unsigned i = 0; i < STEPS; i++) {
			pid_t tid = PID + 1 + (pid_t)(next_random(&seed) % THREADS);

			now_ns += 1 + next_random(&seed) % 1000;
			switch (next_random(&seed) % 6) {
			case 0:
				elapsed_times_begin(times, PID, tid, now_ns, false);
				break;
			case 1:
				in(tid, now_ns);
				break;
			case 2:
				out(tid, now_ns);
				break;
			case 3:
				elapsed_times_sampled(times, tid, now_ns, 1);
				break;
			case 4:
				elapsed_times_switch(times, PID, now_ns, round % 2);
				break;
			default:
				if (next_random(&seed) % 8 == 0)
					elapsed_times_end(times, tid, now_ns);
				break;
			}
		}
		settle(now_ns);
		assert_in_range(whole_weight(), now_ns - slack_ns, now_ns);
		tear_down(state);
		set_up(state);
	}
}
