#include "base/timed_call.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "lacking.h"
#include "unit_test.h"

#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* Reads an eventfd, and writes to another one when it is discarded. */
struct reading {
	struct timed_call call;
	int from, discarded;
	uint64_t value;
	pthread_t thread;
};

static void run_reading(struct timed_call *call)
{
	struct reading *reading = (struct reading *)call;

	reading->thread = pthread_self();
	if (read(reading->from, &reading->value, sizeof(reading->value)) < 0)
		reading->value = 0;
}

static void discard_reading(struct timed_call *call)
{
	struct reading *reading = (struct reading *)call;

	assert_int_equal(eventfd_write(reading->discarded, 1), 0);
	free(reading);
}

static struct reading *reading_new(int from, int discarded, uint64_t place)
{
	struct reading *reading = xcalloc(1, sizeof(*reading));

	*reading = (struct reading){
		.call = {.run = run_reading, .discard = discard_reading, .place = place},
		.from = from,
		.discarded = discarded,
	};
	return reading;
}

/* Returns the value, or 0 if the call was abandoned or refused. */
static uint64_t read_with(struct timed_caller *caller, int from, int discarded, uint64_t place)
{
	CLEANUP(free_ptr) struct reading *reading = reading_new(from, discarded, place);

	if (timed_caller_run(caller, &reading->call))
		return reading->value;
	STEAL(reading);
	return 0;
}

#define TIMEOUT_NS (200 * NS_PER_MS)

static struct timed_caller *hasty_caller(void)
{
	struct timed_caller *caller = timed_caller_new();

	timed_caller_set_timeout(caller, TIMEOUT_NS);
	return caller;
}

TEST(calls_run_on_one_other_thread)
{
	CLEANUP(timed_caller_cleanup) struct timed_caller *caller = timed_caller_new();
	CLEANUP(close_fd) int event = eventfd(2, EFD_SEMAPHORE);
	struct reading *first = reading_new(event, -1, 0), *second = reading_new(event, -1, 0);

	assert_true(timed_caller_run(caller, &first->call));
	assert_true(timed_caller_run(caller, &second->call));
	assert_int_equal(first->value, 1);
	assert_int_equal(second->value, 1);
	assert_false(pthread_equal(first->thread, pthread_self()));
	assert_true(pthread_equal(first->thread, second->thread));
	free(first);
	free(second);
}

TEST(a_call_that_stands_still_costs_its_place_only_and_only_until_it_ends)
{
	CLEANUP(timed_caller_cleanup) struct timed_caller *caller = hasty_caller();
	CLEANUP(close_fd) int never = eventfd(0, 0), full = eventfd(5, EFD_SEMAPHORE);
	CLEANUP(close_fd) int discarded = eventfd(0, 0);
	struct pollfd end = {.fd = discarded, .events = POLLIN};
	uint64_t start_ns, count;

	assert_int_equal(read_with(caller, never, discarded, 7), 0);
	/* The call is refused immediately, although there is something to read. */
	start_ns = clock_now_ns();
	for (int i = 0; i < 100; i++)
		assert_int_equal(read_with(caller, full, discarded, 7), 0);
	assert_true(clock_now_ns() - start_ns < 100 * TIMEOUT_NS);
	assert_int_equal(read_with(caller, full, discarded, 8), 1);
	assert_int_equal(eventfd_read(discarded, &count), 0);
	assert_int_equal(count, 100);
	/* The abandoned call ends and discards its result. */
	assert_int_equal(eventfd_write(never, 1), 0);
	assert_int_equal(poll(&end, 1, -1), 1);
	while (!read_with(caller, full, discarded, 7))
		usleep(1000);
}

TEST(calls_are_refused_when_too_many_are_left_behind)
{
	struct timed_caller *caller = hasty_caller();
	int never = eventfd(0, EFD_SEMAPHORE), discarded = eventfd(0, EFD_SEMAPHORE);
	CLEANUP(close_fd) int full = eventfd(5, EFD_SEMAPHORE);
	uint64_t count;

	for (uint64_t place = 0; place < 8; place++)
		assert_int_equal(read_with(caller, never, discarded, place), 0);
	assert_int_equal(read_with(caller, full, discarded, 100), 0);
	assert_int_equal(eventfd_read(discarded, &count), 0);
	/* The caller is freed while the calls still run; they free themselves. */
	timed_caller_free(caller);
	assert_int_equal(eventfd_write(never, 8), 0);
	for (int i = 0; i < 8; i++)
		assert_int_equal(eventfd_read(discarded, &count), 0);
	close(never);
	close(discarded);
}

static void spin(struct timed_call *call)
{
	struct reading *reading = (struct reading *)call;

	while (clock_thread_cpu_ns() < 3 * TIMEOUT_NS)
		continue;
	reading->value = 1;
}

TEST(a_call_that_uses_its_cpu_is_waited_for)
{
	CLEANUP(timed_caller_cleanup) struct timed_caller *caller = hasty_caller();
	CLEANUP(free_ptr) struct reading *reading = reading_new(-1, -1, 0);

	reading->call.run = spin;
	assert_true(timed_caller_run(caller, &reading->call));
	assert_int_equal(reading->value, 1);
}

/* As in a child that writes a snapshot. */
TEST(a_forked_child_makes_calls_of_its_own)
{
	/* In qemu-user 7.2, a thread started by a forked child ends the child. */
	if (!has_seccomp())
		RETURN_LACKING("emulators of processes have no threads in forked children");
	CLEANUP(timed_caller_cleanup) struct timed_caller *caller = timed_caller_new();
	CLEANUP(close_fd) int event = eventfd(2, EFD_SEMAPHORE);
	CLEANUP(close_fd) int discarded = eventfd(0, 0);
	int status = 0;
	pid_t child;

	assert_int_equal(read_with(caller, event, discarded, 1), 1);
	child = fork();
	if (child == 0)
		_exit((int)read_with(caller, event, discarded, 1));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
}
