/*
 * Processes that are not read again because a read took too long.
 */
#include "base/hung_processes.h"

#include "lacking.h"
#include "unit_test.h"

#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(the_user_of_a_process_is_the_effective_one)
{
	uid_t user = 0;

	assert_true(hung_processes_user("Name:\tx\\nUid:\t7\nUmask:\t0022\nState:\tR (running)\n"
					"Uid:\t1000\t1001\t1002\t1003\nGid:\t5\t5\t5\t5\n",
					&user));
	assert_int_equal(user, 1001);
	assert_false(hung_processes_user("Name:\tx\nUid:\t1000\n", &user));
	assert_false(hung_processes_user("", &user));
}

TEST(a_process_that_hangs_is_remembered_and_not_those_of_a_trusted_user)
{
	struct hung_processes hung = {0};

	assert_false(hung_processes_have(&hung, getpid()));
	assert_true(hung_processes_add(&hung, getpid()));
	assert_true(hung_processes_have(&hung, getpid()));
	assert_false(hung_processes_have(&hung, getppid()));
}

TEST(the_number_of_processes_that_may_hang_is_bounded)
{
	struct hung_processes hung = {0};

	for (pid_t pid = 1; pid <= HUNG_PROCESSES_MAX; pid++)
		assert_true(hung_processes_add(&hung, pid));
	assert_false(hung_processes_add(&hung, getpid()));
}

/* Makes a child that runs as that user. Kill it with kill_child(). */
static pid_t child_of_user(uid_t user)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		/* The process of another user is not affected. */
		if (setuid(user) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 &&
		    write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void kill_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

TEST(a_user_whose_process_hangs_has_none_that_is_read)
{
	enum { USER = 54321, OTHER_USER };

	if (geteuid() != 0)
		RETURN_LACKING("root, to start programs of other users");
	struct hung_processes hung = {0};
	pid_t first = child_of_user(USER), second = child_of_user(USER),
	      other = child_of_user(OTHER_USER);

	assert_true(hung_processes_add(&hung, first));
	assert_true(hung_processes_have(&hung, second));
	assert_false(hung_processes_have(&hung, other));
	assert_false(hung_processes_have(&hung, getpid()));
	kill_child(first);
	kill_child(second);
	kill_child(other);
}

TEST(a_process_that_hung_and_has_ended_may_have_been_of_any_user)
{
	enum { USER = 54321 };

	if (geteuid() != 0)
		RETURN_LACKING("root, to start programs of other users");
	struct hung_processes hung = {0};
	pid_t ended = child_of_user(USER), other = child_of_user(USER);

	kill_child(ended);
	assert_true(hung_processes_add(&hung, ended));
	assert_true(hung_processes_have(&hung, other));
	assert_false(hung_processes_have(&hung, getpid()));
	kill_child(other);
}
