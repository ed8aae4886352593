#include "waiting/thread_times.h"

#include "base/alloc.h"

#include "unit_test.h"

enum { PID = 100, TID = 101, OTHER = 102, MOST_PARTS = 64, TICK = 1000, LONG_AGO = 1000000000 };

static struct thread_times *times;

/* The reported parts of waits. */
static struct {
	struct wait_part items[MOST_PARTS];
	size_t count;
} parts;

static void take_part(void *user, const struct wait_part *part)
{
	(void)user;
	assert_true(parts.count < MOST_PARTS);
	assert_true(part->start_ns < part->end_ns);
	assert_true(part->weight_ns <= part->end_ns - part->start_ns || part->tid < 0);
	parts.items[parts.count++] = *part;
}

static void start(uint64_t least_ns)
{
	thread_times_free(times);
	times = thread_times_new(least_ns, (struct wait_sink){take_part, NULL});
	parts.count = 0;
}

static int set_up(void **state)
{
	(void)state;
	start(0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	thread_times_free(times);
	times = NULL;
	return 0;
}

static uint64_t weight(enum wait_kind kind, wait_place place)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < parts.count; i++)
		if (parts.items[i].kind == kind && parts.items[i].place == place)
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

static void out(uint64_t at)
{
	thread_times_switch(times, TID, at, true, false);
}

static void in(uint64_t at)
{
	thread_times_switch(times, TID, at, false, false);
}

static uint32_t ask(uint64_t at)
{
	struct wait_due due;

	thread_times_begin_round(times, at);
	assert_true(thread_times_next_due(times, at, TICK, &due));
	assert_int_equal(due.tid, TID);
	return due.thread;
}

/* Takes a snapshot of the present wait, which is proven. */
static void look(uint64_t at, wait_place place, uint64_t run_delay)
{
	uint32_t thread = ask(at);

	assert_true(thread_times_has_waited(times, thread, at));
	thread_times_looked(times, thread, LOOKED_PLACE, place, run_delay);
}

TEST_WITH(set_up, tear_down, a_wait_that_was_met_weighs_what_it_lasted)
{
	thread_times_begin(times, PID, TID, 0, THREAD_RUNS);
	out(1000);
	look(2000, 7, 0);
	in(9000);
	thread_times_settle(times, 10000, true);
	assert_int_equal(weight(WAIT_PROVED, 7), 8000);
	assert_int_equal(whole_weight(), 8000);
	assert_int_equal(thread_times_sums(times)->running_ns, 2000);
	assert_int_equal(thread_times_sums(times)->lives_ns, 10000);
}

TEST_WITH(set_up, tear_down, what_happens_in_a_pause_does_not_count)
{
	thread_times_begin(times, PID, TID, 0, THREAD_RUNS);
	out(1000);
	look(2000, 7, 0);
	thread_times_pause(times, 3000);
	in(4000);
	out(4500);
	in(6000);
	thread_times_begin(times, PID, OTHER, 6000, THREAD_IS_FORKED);
	thread_times_end(times, OTHER, 7000);
	thread_times_resume(times, 8000);
	out(8500);
	in(9000);
	thread_times_settle(times, 10000, true);
	/* The place of the second wait was not observed. It is assumed to be
	 * that of a similar wait. */
	assert_int_equal(weight(WAIT_PROVED, 7), 2000);
	assert_int_equal(whole_weight(), 2500);
	assert_int_equal(thread_times_sums(times)->running_ns, 1000 + 500 + 1000);
	assert_int_equal(thread_times_sums(times)->lives_ns, 3000 + 2000);
	assert_int_equal(thread_times_sums(times)->threads, 1);
}

/* A wait across a pause keeps its place, because the thread has not run. */
TEST_WITH(set_up, tear_down, a_wait_that_lasts_through_a_pause_counts_before_and_after_it)
{
	thread_times_begin(times, PID, TID, 0, THREAD_RUNS);
	out(1000);
	look(2000, 7, 0);
	thread_times_pause(times, 3000);
	thread_times_settle(times, 3000, true);
	assert_int_equal(weight(WAIT_PROVED, 7), 2000);
	thread_times_resume(times, 9000);
	in(9500);
	thread_times_settle(times, 10000, true);
	assert_int_equal(weight(WAIT_PROVED, 7), 2500);
	assert_int_equal(whole_weight(), 2500);
	assert_int_equal(thread_times_sums(times)->running_ns, 1500);
}

/* Otherwise, a place from before the pause would be assigned to another wait. */
TEST_WITH(set_up, tear_down, a_wait_that_begins_in_a_pause_has_no_place_yet)
{
	thread_times_begin(times, PID, TID, 0, THREAD_RUNS);
	out(1000);
	look(2000, 7, 0);
	thread_times_pause(times, 3000);
	in(4000);
	out(5000);
	thread_times_resume(times, 9000);
	look(9500, 8, 0);
	in(9900);
	thread_times_settle(times, 10000, true);
	assert_int_equal(weight(WAIT_PROVED, 7), 2000);
	assert_int_equal(weight(WAIT_PROVED, 8), 900);
	assert_int_equal(whole_weight(), 2900);
}

TEST_WITH(set_up, tear_down, a_look_proves_nothing_if_the_thread_ran_before_its_end)
{
	uint32_t thread;

	thread_times_begin(times, PID, TID, 0, THREAD_RUNS);
	out(1000);
	thread = ask(1500);
	in(1600);
	out(1700);
	assert_false(thread_times_has_waited(times, thread, 1650));
	assert_false(thread_times_has_waited(times, thread, 1800));
	thread_times_looked(times, thread, LOOKED_NOTHING, PLACE_UNKNOWN, 0);
	thread_times_settle(times, 2000, true);
	assert_int_equal(weight(WAIT_PLACELESS, PLACE_UNKNOWN), 900);
	assert_int_equal(whole_weight(), 900);
}

TEST_WITH(set_up, tear_down,
	  what_was_read_of_a_thread_is_true_in_its_present_wait_and_the_last_ones)
{
	thread_times_begin(times, PID, TID, 0, THREAD_RUNS);
	out(1000);
	in(2000);
	assert_true(thread_times_waited(times, TID, 1000, 2000));
	assert_false(thread_times_waited(times, TID, 900, 1500));
	assert_false(thread_times_waited(times, TID, 1500, 2100));
	out(3000);
	assert_true(thread_times_waited(times, TID, 1500, 1600));
	assert_true(thread_times_waited(times, TID, 3000, 3500));
	assert_false(thread_times_waited(times, TID, 2500, 3500));
	assert_false(thread_times_waited(times, OTHER, 1500, 1600));
}

/* The snapshot is slow: another wait, which no snapshot observed, starts and
 * ends before it is complete. */
TEST_WITH(set_up, tear_down, waits_that_ended_before_a_look_was_over_lie_in_their_own_time)
{
	static const enum thread_snapshot_outcome outcomes[] = {LOOKED_PLACE, LOOKED_NOTHING};

	for (size_t i = 0; i < ARRAY_SIZE(outcomes); i++) {
		uint32_t thread;

		start(0);
		thread_times_begin(times, PID, TID, 0, THREAD_RUNS);
		out(1000);
		thread = ask(1100);
		in(1400);
		out(2000);
		in(2500);
		thread_times_looked(times, thread, outcomes[i], 7, 0);
		thread_times_settle(times, 3000, true);
		assert_int_equal(whole_weight(), 900);
		for (size_t part = 0; part < parts.count; part++) {
			assert_int_equal(parts.items[part].start_ns, 1000);
			assert_int_equal(parts.items[part].end_ns, 2500);
		}
	}
}

TEST_WITH(set_up, tear_down, a_thread_that_ends_while_it_is_looked_at_loses_nothing)
{
	uint32_t thread;

	thread_times_begin(times, PID, TID, 0, THREAD_RUNS);
	out(1000);
	thread = ask(1500);
	in(3000);
	thread_times_end(times, TID, 3500);
	/* the thread id is reused */
	thread_times_begin(times, PID, TID, 4000, THREAD_RUNS);
	assert_int_equal(whole_weight(), 0);
	assert_true(thread_times_has_waited(times, thread, 1600));
	thread_times_looked(times, thread, LOOKED_PLACE, 7, 0);
	assert_int_equal(weight(WAIT_PROVED, 7), 2000);
	thread_times_settle(times, 5000, true);
	assert_int_equal(thread_times_sums(times)->lives_ns, 4500);
	assert_int_equal(thread_times_sums(times)->threads, 2);
}

TEST_WITH(set_up, tear_down, short_waits_that_are_not_met_go_to_the_next_one_that_is)
{
	uint32_t thread;

	thread_times_begin(times, PID, TID, 0, THREAD_RUNS);
	for (uint64_t at = 1000; at < 4000; at += 1000) {
		out(at);
		in(at + 300);
	}
	out(4000); /* long and observed, so it counts only for itself */
	look(5000, 8, 0);
	in(9000);
	out(10000);
	thread = ask(10100);
	in(10300); /* short */
	thread_times_looked(times, thread, LOOKED_PLACE, 7, 0);
	thread_times_settle(times, 11000, true);
	assert_int_equal(weight(WAIT_PROVED, 8), 5000);
	assert_int_equal(weight(WAIT_PROVED, 7), 300);
	assert_int_equal(weight(WAIT_SPREAD, 7), 900);
	assert_int_equal(whole_weight(), 6200);
}

TEST_WITH(set_up, tear_down, at_the_end_they_go_to_the_last_one_that_was_met)
{
	uint32_t thread;

	thread_times_begin(times, PID, TID, 0, THREAD_RUNS);
	out(1000);
	thread = ask(1100);
	in(1300);
	thread_times_looked(times, thread, LOOKED_PLACE, 7, 0);
	out(2000);
	in(2300);
	thread_times_settle(times, 3000, true);
	assert_int_equal(weight(WAIT_PROVED, 7), 300);
	assert_int_equal(weight(WAIT_SPREAD, 7), 300);
}

TEST_WITH(set_up, tear_down, waits_of_threads_that_end_unmet_go_to_the_next_one_that_ends)
{
	thread_times_begin(times, PID, OTHER, 0, THREAD_RUNS);
	thread_times_switch(times, OTHER, 1000, true, false);
	thread_times_switch(times, OTHER, 1300, false, false);
	thread_times_end(times, OTHER, 1400);
	assert_int_equal(whole_weight(), 0);
	thread_times_begin(times, PID, TID, 2000, THREAD_RUNS);
	out(3000);
	look(3500, 7, 0);
	in(5000);
	thread_times_end(times, TID, 6000);
	assert_int_equal(weight(WAIT_PROVED, 7), 2000);
	assert_int_equal(weight(WAIT_SPREAD, 7), 300);
	assert_int_equal(parts.items[parts.count - 1].tid, -1);
}

TEST_WITH(set_up, tear_down, the_end_of_a_wait_in_which_it_could_run_wants_a_cpu)
{
	thread_times_begin(times, PID, TID, 0, THREAD_RUNS);
	out(1000);
	look(2000, 7, 50000);
	in(9000);
	/* preempted: part of the run delay, too */
	thread_times_switch(times, TID, 9500, true, true);
	in(9900);
	out(10000);
	look(11000, 8, 50000 + 400 + 1500);
	in(12000);
	thread_times_end(times, TID, 13000);
	assert_int_equal(weight(WAIT_PROVED, 7), 6500);
	assert_int_equal(weight(WAIT_RUNNABLE, 7), 1500);
	assert_int_equal(weight(WAIT_RUNNABLE, PLACE_UNKNOWN), 400);
	assert_int_equal(weight(WAIT_PROVED, 8), 2000);
}

TEST_WITH(set_up, tear_down, a_wait_that_was_sampled_when_it_began_needs_no_look)
{
	struct wait_due due;

	thread_times_begin(times, PID, TID, 0, THREAD_RUNS);
	thread_times_leaves(times, TID, 7);
	out(1000);
	assert_false(thread_times_next_due(times, 2000, TICK, &due));
	in(3000);
	out(4000); /* without a sample */
	look(5000, 8, 0);
	in(6000);
	thread_times_leaves(times, TID, 9);
	out(6100);
	thread_times_settle(times, 7000, true);
	assert_int_equal(weight(WAIT_SAMPLED, 7), 2000);
	assert_int_equal(weight(WAIT_PROVED, 8), 2000);
	assert_int_equal(weight(WAIT_SAMPLED, 9), 900);
	assert_int_equal(whole_weight(), 4900);
}

static uint64_t weight_woken(wait_place place, wait_place waker)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < parts.count; i++)
		if (parts.items[i].is_woken && parts.items[i].waker == waker &&
		    parts.items[i].place == place && parts.items[i].kind != WAIT_RUNNABLE)
			sum += parts.items[i].weight_ns;
	return sum;
}

TEST_WITH(set_up, tear_down, a_wait_ends_when_it_is_woken_and_then_a_cpu_is_wanted)
{
	thread_times_begin(times, PID, TID, 0, THREAD_IS_FORKED);
	in(0);
	out(1000);
	look(2000, 7, 0);
	thread_times_woken(times, TID, 6000, 50);
	in(9000);
	out(10000);
	thread_times_woken(times, TID, 9500, 51); /* before the wait */
	look(11000, 8, 3000);			  /* is the whole reported run delay */
	in(12000);
	thread_times_woken(times, TID, 12500, 52); /* the thread runs */
	thread_times_settle(times, 13000, true);
	assert_int_equal(weight(WAIT_PROVED, 7), 5000);
	assert_int_equal(weight_woken(7, 50), 5000);
	assert_int_equal(weight(WAIT_RUNNABLE, 7), 3000);
	assert_int_equal(weight(WAIT_PROVED, 8), 2000);
	assert_int_equal(weight_woken(8, 51) + weight_woken(8, 52), 0);
	assert_int_equal(whole_weight(), 10000);
}

TEST_WITH(set_up, tear_down, a_wait_that_ended_while_it_was_looked_at_has_its_own_waker)
{
	uint32_t thread;

	thread_times_begin(times, PID, TID, 0, THREAD_RUNS);
	out(1000);
	thread = ask(1500);
	thread_times_woken(times, TID, 1800, 50);
	in(1900);
	out(2000);
	thread_times_woken(times, TID, 2400, 51);
	assert_true(thread_times_has_waited(times, thread, 1700));
	thread_times_looked(times, thread, LOOKED_PLACE, 7, 0);
	in(2500);
	thread_times_settle(times, 3000, true);
	assert_int_equal(weight_woken(7, 50), 1200);
	assert_int_equal(weight(WAIT_RUNNABLE, 7), 100);
	assert_int_equal(weight(WAIT_RUNNABLE, PLACE_UNKNOWN), 100);
	assert_int_equal(whole_weight(), 1400);
}

TEST_WITH(set_up, tear_down, waits_that_are_not_met_were_woken_as_the_one_that_is)
{
	thread_times_begin(times, PID, TID, 0, THREAD_RUNS);
	out(100);
	thread_times_woken(times, TID, 300, 50);
	in(300);
	out(400);
	look(500, 7, 0);
	thread_times_woken(times, TID, 600, 51);
	in(600);
	thread_times_settle(times, 1000, true);
	assert_int_equal(weight_woken(7, 51), 400);
	assert_true(thread_times_knows(times, TID));
	assert_false(thread_times_knows(times, OTHER));
}

TEST_WITH(set_up, tear_down, a_preempted_thread_wants_a_cpu_where_it_was_sampled)
{
	thread_times_begin(times, PID, TID, 0, THREAD_RUNS);
	thread_times_sampled(times, TID, 500, 5);
	thread_times_switch(times, TID, 1000, true, true);
	in(1600);
	thread_times_switch(times, TID, 2000 + LONG_AGO, true, true);
	in(2100 + LONG_AGO);
	thread_times_settle(times, 3000 + LONG_AGO, true);
	assert_int_equal(weight(WAIT_RUNNABLE, 5), 600);
	assert_int_equal(weight(WAIT_RUNNABLE, PLACE_UNKNOWN), 100);
	assert_true(parts.items[0].was_running);
}

TEST_WITH(set_up, tear_down, a_thread_that_never_ran_is_idle)
{
	thread_times_begin(times, PID, TID, 1000, THREAD_IS_THERE);
	look(2000, 7, 0);
	thread_times_begin_round(times, 3000);
	assert_false(thread_times_next_due(times, 3000, TICK, &(struct wait_due){0}));
	thread_times_settle(times, 5000, false);
	assert_int_equal(weight(WAIT_PROVED, 7), 4000);
	assert_true(parts.items[0].has_not_run);
	thread_times_settle(times, 9000, true);
	assert_int_equal(weight(WAIT_PROVED, 7), 8000);
	assert_true(parts.items[1].has_not_run);
	assert_true(parts.items[1].is_idle);
}

TEST_WITH(set_up, tear_down, a_thread_that_ran_only_to_begin_a_long_wait_is_idle)
{
	thread_times_begin(times, PID, TID, 0, THREAD_RUNS);
	out(1000);
	look(2000, 7, 0);
	thread_times_settle(times, 50000, false);
	assert_false(parts.items[0].is_idle);
	thread_times_settle(times, 150000, true);
	assert_true(parts.items[1].is_idle);
	assert_false(parts.items[1].has_not_run);
}

TEST_WITH(set_up, tear_down, a_thread_that_was_there_and_is_switched_out_first_has_run)
{
	struct wait_due due;

	thread_times_begin(times, PID, TID, 0, THREAD_IS_THERE);
	out(4000);
	in(5000);
	thread_times_begin(times, PID, OTHER, 0, THREAD_IS_THERE);
	thread_times_begin_round(times, 5500);
	while (thread_times_next_due(times, 5500, TICK, &due))
		thread_times_looked(times, due.thread, LOOKED_RUNS, PLACE_UNKNOWN, 0);
	thread_times_settle(times, 6000, true);
	assert_int_equal(thread_times_sums(times)->running_ns, 5000 + 6000);
	assert_int_equal(whole_weight(), 1000);
}

TEST_WITH(set_up, tear_down, waits_shorter_than_asked_for_are_left_out)
{
	struct wait_due due;

	start(500);
	thread_times_begin(times, PID, TID, 0, THREAD_RUNS);
	out(1000);
	thread_times_begin_round(times, 1200);
	assert_false(thread_times_next_due(times, 1200, TICK, &due));
	in(1499);
	out(2000);
	look(2500, 7, 0);
	in(2600);
	thread_times_settle(times, 3000, true);
	assert_int_equal(whole_weight(), 600);
	assert_int_equal(thread_times_sums(times)->left_out_ns, 499);
}

TEST_WITH(set_up, tear_down, a_thread_with_short_waits_does_not_keep_others_from_being_looked_at)
{
	struct wait_due due;

	start(500);
	thread_times_begin(times, PID, OTHER, 0, THREAD_RUNS);
	thread_times_begin(times, PID, TID, 0, THREAD_RUNS);
	thread_times_switch(times, OTHER, 900, true, false);
	out(1000);
	thread_times_switch(times, OTHER, 1100, false, false);
	thread_times_switch(times, OTHER, 1200, true, false);
	thread_times_begin_round(times, 1400);
	assert_true(thread_times_next_due(times, 1400, TICK, &due));
	assert_int_equal(due.tid, TID);
	assert_false(thread_times_next_due(times, 1400, TICK, &due));
	thread_times_begin_round(times, 1700);
	assert_true(thread_times_next_due(times, 1700, TICK, &due));
	assert_int_equal(due.tid, OTHER);
}

TEST_WITH(set_up, tear_down, after_a_loss_a_wait_has_to_be_proved_again)
{
	uint32_t thread;

	thread_times_begin(times, PID, TID, 0, THREAD_RUNS);
	out(1000);
	thread = ask(1500);
	thread_times_lost(times, 1600);
	assert_false(thread_times_has_waited(times, thread, 1550));
	thread_times_looked(times, thread, LOOKED_NOTHING, PLACE_UNKNOWN, 0);
	look(2000, 7, 0);
	in(3000);
	thread_times_settle(times, 4000, true);
	assert_in_range(weight(WAIT_PROVED, 7), 1999, 2000);
}

static void orphan_a_thread(pid_t pid, uint64_t at)
{
	thread_times_begin(times, pid, OTHER, at, THREAD_RUNS);
	thread_times_switch(times, OTHER, at + 10, true, false);
	thread_times_switch(times, OTHER, at + 40, false, false);
	thread_times_end(times, OTHER, at + 50);
}

TEST_WITH(set_up, tear_down, a_thread_that_ended_before_places_were_forgotten_has_none)
{
	uint32_t thread;

	thread_times_begin(times, PID, TID, 0, THREAD_RUNS);
	out(100);
	look(200, 7, 0);
	in(300);
	out(400);
	thread = ask(500);
	in(600);
	thread_times_end(times, TID, 700);
	thread_times_settle(times, 800, true);
	thread_times_forget_places(times);
	parts.count = 0;
	orphan_a_thread(PID, 1000);
	thread_times_looked(times, thread, LOOKED_NOTHING, PLACE_UNKNOWN, 0);
	thread_times_settle(times, 2000, true);
	assert_int_equal(weight(WAIT_PLACELESS, PLACE_UNKNOWN), 30);
	assert_int_equal(whole_weight(), 30);
}

TEST_WITH(set_up, tear_down, another_program_waits_at_no_place_of_the_one_before)
{
	uint32_t thread;

	thread_times_begin(times, PID, TID, 0, THREAD_RUNS);
	out(100);
	look(200, 7, 0);
	in(300);
	out(400);
	thread = ask(500);
	in(600);
	thread_times_exec(times, PID, TID, 700);
	parts.count = 0;
	assert_false(thread_times_has_waited(times, thread, 500));
	thread_times_looked(times, thread, LOOKED_NOTHING, PLACE_UNKNOWN, 0);
	out(800);
	in(900);
	thread_times_end(times, TID, 1000);
	thread_times_settle(times, 1000, true);
	assert_int_equal(weight(WAIT_PLACELESS, PLACE_UNKNOWN), 100);
	assert_int_equal(whole_weight(), 100);
}

TEST_WITH(set_up, tear_down, waits_of_ended_threads_do_not_go_to_another_program)
{
	thread_times_begin(times, TID, TID, 0, THREAD_RUNS);
	orphan_a_thread(TID, 100);
	thread_times_exec(times, TID, TID, 200);
	orphan_a_thread(TID, 300);
	thread_times_end(times, TID, 400);
	thread_times_begin(times, TID, TID, 500, THREAD_IS_FORKED);
	in(500);
	out(600);
	look(700, 7, 0);
	in(800);
	thread_times_end(times, TID, 900);
	thread_times_settle(times, 1000, true);
	assert_int_equal(weight(WAIT_PLACELESS, PLACE_UNKNOWN), 60);
	assert_int_equal(weight(WAIT_SPREAD, 7), 0);
	assert_int_equal(weight(WAIT_PROVED, 7), 200);
}

TEST_WITH(set_up, tear_down, one_loss_soon_after_another_leaves_no_wait_proved)
{
	struct wait_due due;

	thread_times_begin(times, PID, TID, LONG_AGO, THREAD_RUNS);
	thread_times_lost(times, LONG_AGO + 500);
	out(LONG_AGO + 1000);
	look(LONG_AGO + 2000, 7, 0);
	assert_true(thread_times_waited(times, TID, LONG_AGO + 1500, LONG_AGO + 2500));
	thread_times_lost(times, LONG_AGO + 3000);
	assert_false(thread_times_waited(times, TID, LONG_AGO + 1500, LONG_AGO + 2500));
	thread_times_begin_round(times, LONG_AGO + 4000);
	assert_false(thread_times_next_due(times, LONG_AGO + 4000, TICK, &due));
	thread_times_begin_round(times, LONG_AGO + 20000000);
	assert_true(thread_times_next_due(times, LONG_AGO + 20000000, TICK, &due));
	thread_times_looked(times, due.thread, LOOKED_PLACE, 8, 0);
	in(LONG_AGO + 50000000);
	thread_times_settle(times, LONG_AGO + 60000000, true);
	assert_int_equal(weight(WAIT_PROVED, 7), 20000000 - 1000);
	assert_int_equal(weight(WAIT_PROVED, 8), 30000000);
}

TEST_WITH(set_up, tear_down, a_new_thread_that_has_the_id_of_one_whose_end_was_lost_is_another)
{
	thread_times_begin(times, PID, TID, 0, THREAD_RUNS);
	out(100);
	look(200, 7, 0);
	thread_times_begin(times, OTHER, TID, 1000, THREAD_IS_FORKED);
	in(1100);
	thread_times_settle(times, 2000, true);
	assert_int_equal(weight(WAIT_PROVED, 7), 900);
	assert_int_equal(parts.items[parts.count - 1].pid, OTHER);
	assert_int_equal(thread_times_sums(times)->threads, 2);
	assert_int_equal(thread_times_sums(times)->lives_ns, 2000);
}

TEST_WITH(set_up, tear_down, waits_of_threads_that_lived_long_go_to_no_other)
{
	thread_times_begin(times, TID, TID, 0, THREAD_RUNS);
	orphan_a_thread(TID, 100);
	thread_times_begin(times, TID, 200, 0, THREAD_RUNS);
	thread_times_switch(times, 200, LONG_AGO, true, false);
	thread_times_switch(times, 200, LONG_AGO + 70, false, false);
	thread_times_end(times, 200, LONG_AGO + 100);
	out(LONG_AGO + 1000);
	look(LONG_AGO + 2000, 7, 0);
	in(LONG_AGO + 3000);
	thread_times_end(times, TID, LONG_AGO + 4000);
	thread_times_settle(times, LONG_AGO + 4000, true);
	assert_int_equal(weight(WAIT_PLACELESS, PLACE_UNKNOWN), 30 + 70);
	assert_int_equal(weight(WAIT_PROVED, 7), 2000);
}

TEST_WITH(set_up, tear_down, at_the_end_of_a_profile_they_go_to_a_long_one_if_no_short_one_was_met)
{
	thread_times_begin(times, PID, TID, 0, THREAD_RUNS);
	out(100);
	look(200, 7, 0);
	in(100 + 2 * TICK);
	out(4000);
	in(4100);
	thread_times_settle(times, 5000, true);
	assert_int_equal(weight(WAIT_PROVED, 7), 2 * TICK);
	assert_int_equal(weight(WAIT_SPREAD, 7), 100);
}

TEST_WITH(set_up, tear_down, an_exec_ends_the_other_threads_of_the_process)
{
	thread_times_begin(times, TID, TID, 0, THREAD_RUNS);
	thread_times_begin(times, TID, OTHER, 0, THREAD_RUNS);
	thread_times_exec(times, TID, TID, 1000);
	thread_times_settle(times, 3000, true);
	assert_int_equal(thread_times_sums(times)->running_ns, 3000 + 1000);
}

TEST_WITH(set_up, tear_down, what_a_thread_waited_for_before_an_exec_is_given_out_then)
{
	thread_times_begin(times, PID, TID, 0, THREAD_RUNS);
	out(100);
	look(2000, 7, 0);
	in(3000);
	thread_times_exec(times, PID, TID, 3100);
	assert_int_equal(weight(WAIT_PROVED, 7), 2900);
	out(3200);
	in(3300);
	thread_times_settle(times, 4000, true);
	assert_int_equal(weight(WAIT_PLACELESS, PLACE_UNKNOWN), 100);
}

TEST_WITH(set_up, tear_down, hundreds_of_threads_come_and_go_and_the_sums_are_exact)
{
	struct wait_due due;
	uint64_t sum = 0;

	for (int i = 0; i < 1000; i++) {
		uint64_t at = (uint64_t)i * 100;

		parts.count = 0;
		thread_times_begin(times, PID, 1000 + i, at, THREAD_IS_FORKED);
		thread_times_switch(times, 1000 + i, at + 10, false, false);
		thread_times_switch(times, 1000 + i, at + 40, true, false);
		thread_times_begin_round(times, at + 50);
		if (i % 3 && thread_times_next_due(times, at + 50, TICK, &due))
			thread_times_looked(times, due.thread, LOOKED_NOTHING, PLACE_UNKNOWN, 0);
		thread_times_switch(times, 1000 + i, at + 90, false, false);
		thread_times_end(times, 1000 + i, at + 95);
		sum += whole_weight();
	}
	parts.count = 0;
	thread_times_settle(times, 100000, true);
	assert_int_equal(sum + whole_weight(), 60000);
	assert_int_equal(thread_times_sums(times)->lives_ns, 95000);
	assert_int_equal(thread_times_sums(times)->running_ns, 35000);
}
