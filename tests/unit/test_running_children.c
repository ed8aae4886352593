#include "record/running_children.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"

#include "unit_test.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(a_child_that_runs_is_counted_with_its_cpu_time)
{
	struct running_children children = {0};
	struct running_children_usage usage;
	pid_t own = getpid(), pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (volatile unsigned turns = 0;; turns++)
			continue;
	}
	running_children_begin(&children, &own, 1);
	do
		usage = running_children_usage(&children);
	while (usage.cpu_ns < 20 * NS_PER_MS);
	assert_int_equal(usage.count, 1);
	assert_true(usage.target_cpu_ns > 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	usage = running_children_usage(&children);
	assert_int_equal(usage.count, 0);
	running_children_deinit(&children);
}

static char *text_of(size_t count, uint64_t cpu_ms, uint64_t target_cpu_ms)
{
	const struct running_children_usage usage = {.count = count,
						     .cpu_ns = cpu_ms * NS_PER_MS,
						     .target_cpu_ns = target_cpu_ms * NS_PER_MS};

	return running_children_text(&usage, (const pid_t[]){12, 34}, 2);
}

TEST(the_text_names_the_option_unless_it_would_add_little)
{
	CLEANUP(free_ptr) char *several = text_of(3, 1500, 20);
	CLEANUP(free_ptr) char *one = text_of(1, 10, 0);

	assert_non_null(strstr(several, "3 child processes"));
	assert_non_null(strstr(several, "1.5"));
	assert_non_null(strstr(several, "-p 12,34 --children"));
	assert_non_null(strstr(one, "1 child process that"));
	assert_null(text_of(1, 9, 0));
	assert_null(text_of(1, 10, 1000));
	assert_null(text_of(0, 0, 0));
}
