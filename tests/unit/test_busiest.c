#include "proc/busiest.h"

#include "lacking.h"
#include "unit_test.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Returns a user of no other process: the programs of other tests have the user
 * 54321. */
static uid_t other_user(void)
{
	return 30000 + (uid_t)getpid() % 20000;
}

static pid_t start(bool is_busy, uid_t user)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (getuid() == 0 && setuid(user) < 0)
		_exit(1);
	/* The process ends also if the test fails. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!is_busy)
		pause();
	for (;;)
		;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST(the_busy_process_of_a_user_is_found)
{
	struct busiest found = {0};
	uid_t user = other_user();
	pid_t idle, busy;

	if (getuid() != 0)
		RETURN_LACKING("another user");
	idle = start(false, user);
	busy = start(true, user);
	/* On a loaded machine it may have no CPU while it is measured. */
	while (!busiest_process(user, false, &found))
		;
	assert_int_equal(found.pid, busy);
	assert_string_equal(found.name, "test_busiest");
	assert_true(found.cpus >= 0.01 && found.cpus < 1.5);
	end(busy);
	assert_false(busiest_process(user, false, &found));
	end(idle);
}

TEST(any_user_includes_all)
{
	struct busiest found = {0};
	pid_t busy = start(true, other_user());

	while (!busiest_process(getuid(), true, &found))
		;
	assert_true(found.pid != getpid() && found.cpus >= 0.01);
	end(busy);
}
