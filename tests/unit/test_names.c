#include "proc/names.h"

#include "unit_test.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>

TEST(a_name_is_the_last_one_set)
{
	CLEANUP(names_cleanup) struct names *names = names_new("/nowhere");

	names_set(names, 7, "sh");
	assert_string_equal(names_get(names, 7, 7), "sh");
	names_set(names, 7, "ls");
	assert_string_equal(names_get(names, 7, 7), "ls");
	names_set(names, 7, "a\nb c");
	assert_string_equal(names_get(names, 7, 7), "a\nb c");
	names_set(names, 7, "");
	assert_string_equal(names_get(names, 7, 7), "");
}

TEST(a_child_is_named_like_its_parent_until_it_is_renamed)
{
	CLEANUP(names_cleanup) struct names *names = names_new("/nowhere");

	names_set(names, 7, "sh");
	names_fork(names, 7, 7, 8);
	names_set(names, 7, "renamed");
	assert_string_equal(names_get(names, 8, 8), "sh");
	names_set(names, 8, "ls");
	assert_string_equal(names_get(names, 8, 8), "ls");
	assert_string_equal(names_get(names, 7, 7), "renamed");
}

TEST(a_tid_that_is_used_again_does_not_keep_the_old_name)
{
	CLEANUP(names_cleanup) struct names *names = names_new("/nowhere");

	names_set(names, 9, "former");
	names_fork(names, 1234, 1234, 9);
	assert_string_equal(names_get(names, 9, 9), ":9");
}

TEST(the_name_of_what_has_ended_is_forgotten_some_time_later)
{
	CLEANUP(names_cleanup) struct names *names = names_new("/nowhere");

	names_set(names, 7, "sh");
	names_set(names, 8, "ls");
	names_exit(names, 7, 100);
	names_exit(names, 8, 100);
	names_exit(names, 9, 100);  /* unknown thread */
	names_fork(names, 7, 7, 8); /* reused thread id */
	names_forget(names, 100);
	assert_string_equal(names_get(names, 7, 7), "sh");
	names_forget(names, 101);
	assert_string_equal(names_get(names, 7, 7), ":7");
	assert_string_equal(names_get(names, 8, 8), "sh");
}

TEST(of_endless_threads_those_unused_for_longest_are_forgotten)
{
	enum { THREADS = 300000, EVERY = 50000 };
	CLEANUP(names_cleanup) struct names *names = names_new("/nowhere");

	names_set(names, 1, "unused");
	names_set(names, 2, "used");
	for (pid_t tid = 3; tid < THREADS; tid++) {
		names_set(names, tid, "storm");
		if (tid % EVERY == 0)
			assert_string_equal(names_get(names, 2, 2), "used");
	}
	assert_string_equal(names_get(names, 1, 1), ":1");
	assert_string_equal(names_get(names, 2, 2), "used");
	assert_string_equal(names_get(names, THREADS - 1, THREADS - 1), "storm");
}

TEST(what_lived_before_is_read_from_proc_once)
{
	CLEANUP(names_cleanup) struct names *names = names_new("/proc");
	char before[16];

	assert_int_equal(prctl(PR_GET_NAME, before), 0);
	assert_int_equal(prctl(PR_SET_NAME, "with\nnewline\n"), 0);
	assert_string_equal(names_get(names, getpid(), getpid()), "with\nnewline\n");
	assert_int_equal(prctl(PR_SET_NAME, before), 0);
	assert_string_equal(names_get(names, getpid(), getpid()), "with\nnewline\n");
}

TEST(a_child_is_named_like_a_parent_that_lived_before)
{
	CLEANUP(names_cleanup) struct names *names = names_new("/proc");
	const pid_t pid = getpid(), child = INT_MAX;
	char before[16];

	assert_int_equal(prctl(PR_GET_NAME, before), 0);
	assert_int_equal(prctl(PR_SET_NAME, "parent"), 0);
	names_fork(names, pid, pid, child);
	/* The name is not read again. */
	assert_int_equal(prctl(PR_SET_NAME, before), 0);
	names_fork(names, pid, pid, child - 1);
	assert_string_equal(names_get(names, child, child), "parent");
	assert_string_equal(names_get(names, child - 1, child - 1), "parent");
}

TEST(what_is_gone_is_named_by_its_number)
{
	CLEANUP(names_cleanup) struct names *names = names_new("/nowhere");

	assert_string_equal(names_get(names, 7, 8), ":8");
	assert_string_equal(names_get(names, -1, -1), "[ended]");
	assert_string_equal(names_get(names, 0, 0), "[idle]");
}

TEST(test_a_name_of_an_executed_program_can_be_replaced_by_a_better_one)
{
	CLEANUP(names_cleanup) struct names *names = names_new("/nowhere");

	names_replace(names, 7, "parser-3f9a8b7c", "parser");
	names_replace(names, 8, "quite_a_long_na", "quite_a_long_name_for_a_test");
	names_set(names, 7, "sudo");
	assert_string_equal(names_get(names, 7, 7), "sudo");
	names_set(names, 8, "parser-3f9a8b7c");
	assert_string_equal(names_get(names, 8, 8), "parser-3f9a8b7c");
	names_set(names, 8, "quite_a_long_na");
	assert_string_equal(names_get(names, 8, 8), "quite_a_long_name_for_a_test");
	names_set(names, 7, "parser-3f9a8b7c");
	assert_string_equal(names_get(names, 7, 7), "parser");
	names_fork(names, 7, 7, 9);
	assert_string_equal(names_get(names, 9, 9), "parser");
	names_set(names, 7, "parser-3f9a8b7c");
	assert_string_equal(names_get(names, 7, 7), "parser-3f9a8b7c");
}
