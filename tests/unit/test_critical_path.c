#include "waiting/critical_path.h"

#include "base/alloc.h"

#include "unit_test.h"

/* Times are in ms. */
enum { PID = 100, A = 101, B = 102, LOCK = 0x1000, MOST_PARTS = 64, MS = 1000000, LAST = 1000 };

static struct critical_path *path;

/* From the end of the path to its start. */
static struct {
	struct critical_part items[MOST_PARTS];
	size_t count;
} parts;

static void take_part(void *user, const struct critical_part *part)
{
	(void)user;
	assert_true(parts.count < MOST_PARTS);
	assert_true(part->start_ns < part->end_ns);
	if (parts.count)
		assert_int_equal(part->end_ns, parts.items[parts.count - 1].start_ns);
	parts.items[parts.count++] = *part;
}

static int set_up(void **state)
{
	(void)state;
	path = critical_path_new();
	parts.count = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	critical_path_free(path);
	return 0;
}

static void begin(pid_t tid, pid_t creator, uint64_t at)
{
	critical_path_begin(path, PID, tid, creator, at * MS);
}

static void in(pid_t tid, uint64_t at)
{
	critical_path_switch(path, tid, at * MS, false);
}

static void out(pid_t tid, uint64_t at)
{
	critical_path_switch(path, tid, at * MS, true);
}

static void woken(pid_t tid, uint64_t at, pid_t waker)
{
	critical_path_woken(path, tid, at * MS, waker);
}

static void end(pid_t tid, uint64_t at)
{
	critical_path_end(path, tid, at * MS, (critical_names)tid);
}

static void waits_for(pid_t tid, uint64_t at, pid_t other, uint64_t lock)
{
	critical_path_waits_for(path, tid, at * MS, other, lock);
}

static void take(void)
{
	assert_int_equal(critical_path_take(path, LAST * (uint64_t)MS,
					    (struct critical_sink){.add = take_part}),
			 CRITICAL_TAKEN);
}

/* Returns the time of a thread on the path, in ms. */
static uint64_t time_of(pid_t tid, bool has_run)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < parts.count; i++)
		if (parts.items[i].tid == tid && parts.items[i].has_run == has_run)
			sum += parts.items[i].end_ns - parts.items[i].start_ns;
	return sum / MS;
}

static uint64_t time_at(wait_place place)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < parts.count; i++)
		if (parts.items[i].place == place)
			sum += parts.items[i].end_ns - parts.items[i].start_ns;
	return sum / MS;
}

TEST_WITH(set_up, tear_down, a_thread_that_waits_for_no_other_is_the_path)
{
	begin(PID, 0, 0);
	in(PID, 0);
	out(PID, 10);
	in(PID, 40);
	critical_path_waited(path, PID, 10 * MS, 40 * MS, 7);
	critical_path_sampled(path, PID, 45 * MS, 1);
	end(PID, 50);
	take();
	assert_int_equal(time_of(PID, true), 20);
	assert_int_equal(time_of(PID, false), 30);
	assert_int_equal(time_at(7), 30);
	assert_int_equal(time_at(1), 20);
}

TEST_WITH(set_up, tear_down, the_path_goes_on_with_the_thread_that_woke_it)
{
	begin(PID, 0, 0);
	in(PID, 0);
	begin(A, PID, 10);
	in(A, 10);
	out(PID, 20);
	woken(PID, 60, A);
	in(PID, 65);
	out(A, 90);
	end(PID, 100);
	take();
	/* Until it created the other thread, and from the wakeup on. */
	assert_int_equal(time_of(PID, true), 10 + 35);
	assert_int_equal(time_of(PID, false), 5);
	assert_int_equal(time_of(A, true), 50);
}

TEST_WITH(set_up, tear_down, a_joined_thread_has_ended_when_it_wakes)
{
	begin(PID, 0, 0);
	in(PID, 0);
	begin(A, PID, 10);
	in(A, 10);
	out(PID, 20);
	end(A, 59);
	woken(PID, 60, A);
	in(PID, 60);
	end(PID, 100);
	take();
	assert_int_equal(time_of(A, true), 49);
	assert_int_equal(time_of(PID, false), 1);
}

TEST_WITH(set_up, tear_down, a_wait_that_an_interrupt_ended_belongs_to_the_thread)
{
	begin(PID, 0, 0);
	in(PID, 0);
	begin(A, PID, 0);
	in(A, 0);
	out(PID, 20);
	woken(PID, 60, 0);
	in(PID, 60);
	end(PID, 100);
	take();
	assert_int_equal(time_of(PID, true), 60);
	assert_int_equal(time_of(PID, false), 40);
	assert_int_equal(time_of(A, true), 0);
}

TEST_WITH(set_up, tear_down, without_wakeups_a_join_or_a_lock_tells_the_other_thread)
{
	begin(PID, 0, 0);
	in(PID, 0);
	begin(A, PID, 0);
	in(A, 0);
	out(PID, 20);
	waits_for(PID, 20, A, 0);
	end(A, 60);
	in(PID, 61);
	end(PID, 100);
	take();
	assert_int_equal(time_of(A, true), 60);
	assert_int_equal(time_of(PID, true), 39);
}

TEST_WITH(set_up, tear_down, the_holder_of_a_lock_is_the_thread_that_took_it_last)
{
	begin(PID, 0, 0);
	in(PID, 0);
	begin(A, PID, 0);
	begin(B, PID, 0);
	in(A, 0);
	in(B, 0);
	out(A, 10);
	out(B, 10);
	waits_for(A, 11, PID, LOCK);
	waits_for(B, 11, PID, LOCK);
	out(PID, 40);
	waits_for(PID, 41, B, 0);
	in(A, 40);
	out(A, 60);
	in(B, 60);
	end(B, 90);
	in(PID, 90);
	end(PID, 100);
	take();
	assert_int_equal(time_of(PID, true), 40 + 10);
	assert_int_equal(time_of(A, true), 20);
	assert_int_equal(time_of(B, true), 30);
}

TEST_WITH(set_up, tear_down, an_exec_has_the_names_of_both_programs)
{
	begin(PID, 0, 0);
	in(PID, 0);
	out(PID, 10);
	in(PID, 20);
	critical_path_exec(path, PID, PID, 30 * MS, 7);
	critical_path_waited(path, PID, 10 * MS, 20 * MS, 1);
	end(PID, 90);
	take();
	assert_int_equal(time_at(1), 10);
	assert_int_equal(parts.count, 4);
	for (size_t i = 0; i < parts.count; i++)
		assert_int_equal(parts.items[i].names, parts.items[i].end_ns <= 30 * MS ? 7 : PID);
}

static bool is_thread(void *user, const struct critical_part *last)
{
	return last->tid == *(pid_t *)user;
}

TEST_WITH(set_up, tear_down, the_path_of_another_thread_ends_with_it)
{
	pid_t end_of = A, unknown = B;

	begin(PID, 0, 0);
	in(PID, 0);
	begin(A, PID, 10);
	in(A, 10);
	end(A, 60);
	end(PID, 100);
	assert_int_equal(critical_path_take(path, LAST * (uint64_t)MS,
					    (struct critical_sink){take_part, is_thread, &end_of}),
			 CRITICAL_TAKEN);
	assert_int_equal(time_of(A, true), 50);
	assert_int_equal(time_of(PID, true), 10);
	assert_int_equal(critical_path_take(path, LAST * (uint64_t)MS,
					    (struct critical_sink){take_part, is_thread, &unknown}),
			 CRITICAL_NO_END);
}

TEST_WITH(set_up, tear_down, where_a_thread_waited_may_be_known_after_its_end)
{
	begin(PID, 0, 0);
	in(PID, 0);
	out(PID, 10);
	in(PID, 40);
	end(PID, 50);
	critical_path_waited(path, PID, 10 * MS, 40 * MS, 7);
	take();
	assert_int_equal(time_at(7), 30);
}

TEST_WITH(set_up, tear_down, what_a_snapshot_finds_is_dropped_if_the_thread_has_run_since)
{
	begin(PID, 0, 0);
	in(PID, 0);
	begin(A, PID, 0);
	in(A, 0);
	out(PID, 20);
	in(PID, 30);
	out(PID, 40);
	waits_for(PID, 20, A, 0);
	in(PID, 60);
	end(PID, 100);
	take();
	assert_int_equal(time_of(A, true), 0);
}

TEST_WITH(set_up, tear_down, two_threads_that_wake_each_other_take_turns)
{
	begin(PID, 0, 0);
	begin(A, 0, 0);
	in(PID, 0);
	for (uint64_t at = 0; at < 80; at += 20) {
		woken(A, at + 10, PID);
		out(PID, at + 10);
		in(A, at + 10);
		woken(PID, at + 20, A);
		out(A, at + 20);
		in(PID, at + 20);
	}
	end(PID, 90);
	take();
	assert_int_equal(time_of(PID, true), 50);
	assert_int_equal(time_of(A, true), 40);
}

TEST_WITH(set_up, tear_down, wakeups_in_a_circle_without_time_end)
{
	begin(PID, 0, 0);
	begin(A, 0, 0);
	in(PID, 0);
	in(A, 0);
	out(PID, 10);
	out(A, 10);
	woken(PID, 10, A);
	woken(A, 10, PID);
	in(PID, 10);
	in(A, 10);
	end(PID, 20);
	take();
	assert_int_equal(time_of(PID, true) + time_of(A, true), 20);
}

TEST_WITH(set_up, tear_down, a_forgotten_past_is_not_part_of_the_path)
{
	begin(PID, 0, 0);
	in(PID, 0);
	critical_path_sampled(path, PID, 5 * MS, 1);
	begin(A, PID, 10);
	begin(B, PID, 20);
	in(B, 20);
	end(A, 40);
	critical_path_forget(path, 50 * MS);
	critical_path_sampled(path, PID, 60 * MS, 2);
	out(PID, 60);
	woken(PID, 70, B);
	in(PID, 70);
	end(PID, 75);
	take();
	assert_int_equal(time_of(PID, true), 5);
	assert_int_equal(time_of(B, true), 20);
}

TEST_WITH(set_up, tear_down, a_tid_that_is_used_again_is_another_thread)
{
	begin(PID, 0, 0);
	in(PID, 0);
	begin(A, PID, 0);
	in(A, 10);
	end(A, 20);
	begin(A, PID, 30);
	in(A, 30);
	out(PID, 40);
	end(A, 60);
	woken(PID, 60, A);
	in(PID, 60);
	end(PID, 70);
	take();
	assert_int_equal(time_of(A, true), 30);
	assert_int_equal(time_of(PID, true), 40);
}

TEST_WITH(set_up, tear_down, a_wait_that_stands_for_others_fills_the_gaps_between_them)
{
	begin(PID, 0, 0);
	in(PID, 0);
	out(PID, 10);
	in(PID, 90);
	critical_path_waited(path, PID, 10 * MS, 80 * MS, 7);
	critical_path_waited(path, PID, 20 * MS, 30 * MS, 8);
	critical_path_waited(path, PID, 40 * MS, 50 * MS, 9);
	end(PID, 90);
	take();
	assert_int_equal(time_at(7), 50);
	assert_int_equal(time_at(8), 10);
	assert_int_equal(time_at(9), 10);
	assert_int_equal(time_of(PID, false), 80);
}
