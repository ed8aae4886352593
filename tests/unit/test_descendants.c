#include "base/descendants.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include "unit_test.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(the_parent_is_found_behind_any_name)
{
	assert_int_equal(descendants_parent("12 (sh) S 7 12 12 0"), 7);
	assert_int_equal(descendants_parent("12 (a) S 3 (b)) R 8 12"), 8);
	assert_int_equal(descendants_parent("12 (sh"), 0);
	assert_int_equal(descendants_parent("12 (sh)"), 0);
	assert_int_equal(descendants_parent(""), 0);
}

/* Starts a process whose child waits, too. *child is the child. */
static pid_t start_pair(pid_t *child)
{
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		pid_t own = fork();

		if (own != 0 && write(fds[1], &own, sizeof(own)) != sizeof(own))
			_exit(1);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_int_equal(read(fds[0], child, sizeof(*child)), sizeof(*child));
	close(fds[0]);
	close(fds[1]);
	return pid;
}

TEST(children_of_children_are_listed_once)
{
	pid_t child, parent = start_pair(&child), test = getpid();
	CLEANUP(free_ptr) pid_t *list = NULL;
	size_t count;

	descendants_list((const pid_t[]){parent}, 1, &list, &count);
	assert_int_equal(count, 1);
	assert_int_equal(list[0], child);
	free(list);
	descendants_list(&test, 1, &list, &count);
	assert_int_equal(count, 2);
	assert_int_equal(list[0] + list[1], parent + child);
	free(list);
	descendants_list((const pid_t[]){parent, child}, 2, &list, &count);
	assert_int_equal(count, 0);
	kill(child, SIGKILL);
	kill(parent, SIGKILL);
	waitpid(parent, NULL, 0);
}

TEST(the_calling_process_is_not_followed)
{
	pid_t child, parent = start_pair(&child), own_parent = getppid();
	CLEANUP(free_ptr) pid_t *list = NULL;
	size_t count;

	descendants_list(&own_parent, 1, &list, &count);
	for (size_t i = 0; i < count; i++)
		assert_true(list[i] != getpid() && list[i] != parent && list[i] != child);
	kill(child, SIGKILL);
	kill(parent, SIGKILL);
	waitpid(parent, NULL, 0);
}
