/*
 * The state of threads that do not run, from /proc.
 */
#include "perf/task_state.h"

#include "unit_test.h"

#include <stdio.h>

static const char *stat_of(const char *name, char state, const char *processor)
{
	static char text[512];

	snprintf(text, sizeof(text),
		 "2217 (%s) %c 2216 2217 2212 0 -1 4194304 101 0 0 0 320 2 0 0 20 0 1 0 285034 "
		 "2805760 "
		 "365 18446744073709551615 94108353597440 94108353601445 140731158911456 0 0 0 0 0 "
		 "0 0 "
		 "0 0 17 %s 0 0 0 0 0 94108353609144 94108353609736 94108366622720 0 0 0 0 0\n",
		 name, state, processor);
	return text;
}

TEST(a_thread_that_is_ready_waits_in_the_queue_of_its_cpu)
{
	assert_true(task_state_is_on(stat_of("turns", 'R', "1"), 1, false));
	assert_true(task_state_is_on(stat_of("turns", 'R', "107"), 107, false));
	assert_false(task_state_is_on(stat_of("turns", 'R', "1"), 0, false));
	assert_false(task_state_is_on(stat_of("turns", 'R', "10"), 1, false));
	assert_false(task_state_is_on(stat_of("turns", 'S', "1"), 1, false));
	assert_false(task_state_is_on(stat_of("turns", 'Z', "1"), 1, false));
}

TEST(a_thread_that_is_blocked_has_the_cpu_on_which_it_ran_last)
{
	assert_true(task_state_is_on(stat_of("turns", 'R', "1"), 1, true));
	assert_true(task_state_is_on(stat_of("turns", 'S', "1"), 1, true));
	assert_false(task_state_is_on(stat_of("turns", 'S', "1"), 0, true));
	assert_false(task_state_is_on("2217 turns S", 0, true));
}

TEST(a_name_may_hold_anything)
{
	assert_true(task_state_is_on(stat_of("a) S 1 (b", 'R', "1"), 1, false));
	assert_false(task_state_is_on(stat_of("a) R 1 ) R 2", 'S', "1"), 1, false));
}

TEST(what_is_no_such_file_is_no_thread_that_is_ready)
{
	assert_false(task_state_is_on("", 0, false));
	assert_false(task_state_is_on("2217 (turns", 0, false));
	assert_false(task_state_is_on("2217 (turns) R", 0, false));
	assert_false(task_state_is_on("2217 (turns) R 2216 2217", 0, false));
	assert_false(task_state_is_on(stat_of("turns", 'R', ""), 0, false));
}

TEST(a_thread_that_waits_stands_where_it_entered_the_kernel)
{
	assert_true(task_state_waits_at("0 0x0 0x7ffd5c3 0x400 0x0 0x0 0x0 0x7ffd5c0 0x7f1c8e\n",
					0x7ffd5c0, 0x7f1c8e));
	assert_false(task_state_waits_at("0 0x0 0x7ffd5c3 0x400 0x0 0x0 0x0 0x7ffd5c0 0x7f1c8e\n",
					 0x7ffd5c8, 0x7f1c8e));
	assert_false(task_state_waits_at("0 0x0 0x7ffd5c3 0x400 0x0 0x0 0x0 0x7ffd5c0 0x7f1c8e\n",
					 0x7ffd5c0, 0x7f1c90));
	/* In a page fault. */
	assert_true(task_state_waits_at("-1 0x7ffd5c0 0x55d0\n", 0x7ffd5c0, 0x55d0));
}

TEST(a_thread_that_runs_or_is_gone_stands_nowhere)
{
	assert_false(task_state_waits_at("running\n", 0, 0));
	assert_false(task_state_waits_at("", 0, 0));
	assert_false(task_state_waits_at(" ", 0, 0));
	assert_false(task_state_waits_at("-1\n", 0, 0));
	assert_false(task_state_waits_at("0x0 0x0\n", 0, 0));
	assert_false(task_state_waits_at("-1 x y\n", 0, 0));
}
