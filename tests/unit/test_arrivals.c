#include "record/arrivals.h"

#include "unit_test.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void forks(struct arrivals *arrivals, pid_t parent, pid_t pid, pid_t tid)
{
	arrivals_feed(arrivals, &(struct record){.type = RECORD_FORK,
						 .pid = pid,
						 .tid = tid,
						 .fork.parent_pid = parent});
}

TEST(children_are_sampled_with_their_parent)
{
	struct arrivals arrivals = {0};

	arrivals_add(&arrivals, 10);
	assert_true(arrivals_is_sampled(&arrivals, 10));
	assert_false(arrivals_is_sampled(&arrivals, 11));
	forks(&arrivals, 10, 11, 11);
	assert_true(arrivals_is_sampled(&arrivals, 11));
	forks(&arrivals, 10, 10, 12);
	assert_false(arrivals_is_sampled(&arrivals, 12));
	arrivals_deinit(&arrivals);
}

TEST(processes_that_have_ended_are_forgotten)
{
	struct arrivals arrivals = {0};
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	arrivals_add(&arrivals, getpid());
	arrivals_add(&arrivals, pid);
	arrivals_forget_ended(&arrivals);
	assert_true(arrivals_is_sampled(&arrivals, pid)); /* not waited for */
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	arrivals_forget_ended(&arrivals);
	assert_false(arrivals_is_sampled(&arrivals, pid));
	assert_true(arrivals_is_sampled(&arrivals, getpid()));
	arrivals_deinit(&arrivals);
}
