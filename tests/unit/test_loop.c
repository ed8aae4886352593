/* The event loop, with pipes and timers. */
#include "base/loop.h"

#include "base/clock.h"

#include "unit_test.h"

#include <stdint.h>

struct fixture {
	struct loop *loop;
	int pipe[2];
	struct loop_watch *watch;
	struct loop_timer *timer;
	int calls, other_calls;
};

static struct fixture fixture_new(void)
{
	struct fixture ret = {0};

	assert_null(loop_new(&ret.loop));
	assert_int_equal(pipe(ret.pipe), 0);
	return ret;
}

static void fixture_deinit(struct fixture *f)
{
	loop_free(f->loop);
	close(f->pipe[0]);
	close(f->pipe[1]);
}

static void count_call(void *user)
{
	struct fixture *f = user;

	f->calls++;
}

static void remove_watch(void *user)
{
	struct fixture *f = user;

	f->other_calls++;
	loop_unwatch(f->loop, STEAL(f->watch));
}

static void set_again(void *user)
{
	struct fixture *f = user;

	if (++f->calls < 3)
		loop_set_timer(f->timer, clock_now_ns());
}

TEST(a_readable_descriptor_is_called_back_for)
{
	CLEANUP(fixture_deinit) struct fixture f = fixture_new();

	assert_null(loop_watch(f.loop, f.pipe[0], count_call, &f, &f.watch));
	loop_run(f.loop, 0);
	assert_int_equal(f.calls, 0);
	assert_int_equal(write(f.pipe[1], "x", 1), 1);
	loop_run(f.loop, LOOP_FOREVER);
	loop_run(f.loop, LOOP_FOREVER);
	assert_int_equal(f.calls, 2);
	loop_unwatch(f.loop, f.watch);
	loop_run(f.loop, 0);
	assert_int_equal(f.calls, 2);
}

TEST(a_timer_is_called_back_for_once_and_not_early)
{
	CLEANUP(fixture_deinit) struct fixture f = fixture_new();
	uint64_t at_ns = clock_now_ns() + 5 * NS_PER_MS;

	f.timer = loop_add_timer(f.loop, count_call, &f);
	loop_set_timer(f.timer, at_ns);
	loop_run(f.loop, LOOP_FOREVER);
	assert_true(clock_now_ns() >= at_ns);
	loop_run(f.loop, clock_now_ns() + NS_PER_MS);
	assert_int_equal(f.calls, 1);
}

TEST(a_callback_may_set_its_timer_again)
{
	CLEANUP(fixture_deinit) struct fixture f = fixture_new();

	f.timer = loop_add_timer(f.loop, set_again, &f);
	loop_set_timer(f.timer, clock_now_ns());
	while (f.calls < 3)
		loop_run(f.loop, LOOP_FOREVER);
	loop_run(f.loop, clock_now_ns() + NS_PER_MS);
	assert_int_equal(f.calls, 3);
}

/* Both are ready at the same time. The one that was ready first removes the
 * other. */
TEST(a_removed_watch_is_not_called_any_more)
{
	CLEANUP(fixture_deinit) struct fixture f = fixture_new();
	struct loop_watch *first;
	int other[2];

	assert_int_equal(pipe(other), 0);
	assert_null(loop_watch(f.loop, other[0], remove_watch, &f, &first));
	assert_null(loop_watch(f.loop, f.pipe[0], count_call, &f, &f.watch));
	assert_int_equal(write(other[1], "x", 1), 1);
	assert_int_equal(write(f.pipe[1], "x", 1), 1);
	loop_run(f.loop, LOOP_FOREVER);
	assert_int_equal(f.other_calls, 1);
	assert_int_equal(f.calls, 0);
	close(other[0]);
	close(other[1]);
}

TEST(a_watch_that_rests_is_called_back_for_when_the_rest_is_over)
{
	CLEANUP(fixture_deinit) struct fixture f = fixture_new();
	uint64_t until_ns = clock_now_ns() + 5 * NS_PER_MS;

	assert_null(loop_watch(f.loop, f.pipe[0], count_call, &f, &f.watch));
	assert_int_equal(write(f.pipe[1], "x", 1), 1);
	loop_rest(f.loop, f.watch, until_ns);
	while (!f.calls)
		loop_run(f.loop, LOOP_FOREVER);
	assert_true(clock_now_ns() >= until_ns);
	/* A throttled watch can be resumed early. */
	loop_rest(f.loop, f.watch, LOOP_FOREVER - 1);
	loop_run(f.loop, 0);
	assert_int_equal(f.calls, 1);
	loop_rest(f.loop, f.watch, 0);
	loop_run(f.loop, LOOP_FOREVER);
	assert_int_equal(f.calls, 2);
}

static void rest_on(void *user)
{
	struct fixture *f = user;

	count_call(user);
	loop_rest(f->loop, f->watch, clock_now_ns() + NS_PER_MS);
}

/* Without polling, while it is throttled again each time. */
TEST(a_rest_that_is_over_calls_back_without_looking)
{
	CLEANUP(fixture_deinit) struct fixture f = fixture_new();

	assert_null(loop_watch(f.loop, f.pipe[0], rest_on, &f, &f.watch));
	loop_rest(f.loop, f.watch, clock_now_ns() + NS_PER_MS);
	while (f.calls < 3)
		loop_run(f.loop, LOOP_FOREVER);
}

TEST(a_watch_that_is_removed_while_it_rests_is_not_called)
{
	CLEANUP(fixture_deinit) struct fixture f = fixture_new();
	struct loop_watch *other;
	uint64_t until_ns = clock_now_ns() + NS_PER_MS;

	/* The last watch that was added is polled first. */
	assert_null(loop_watch(f.loop, f.pipe[0], count_call, &f, &f.watch));
	assert_null(loop_watch(f.loop, f.pipe[1], remove_watch, &f, &other));
	loop_rest(f.loop, f.watch, until_ns);
	loop_rest(f.loop, other, until_ns);
	while (!f.other_calls)
		loop_run(f.loop, LOOP_FOREVER);
	loop_run(f.loop, 0);
	assert_int_equal(f.calls, 0);
}

TEST(a_closed_writer_is_seen)
{
	CLEANUP(fixture_deinit) struct fixture f = fixture_new();

	assert_null(loop_watch(f.loop, f.pipe[0], count_call, &f, &f.watch));
	close(f.pipe[1]);
	f.pipe[1] = dup(f.pipe[0]);
	loop_run(f.loop, LOOP_FOREVER);
	assert_int_equal(f.calls, 1);
}
