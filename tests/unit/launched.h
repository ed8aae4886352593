/* Children of a test of the sampler: the test's own program, started again in a role. */
#ifndef PROF_TESTS_UNIT_LAUNCHED_H
#define PROF_TESTS_UNIT_LAUNCHED_H

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

struct launched {
	pid_t pid;
	int hold; /* closing it lets the child exec */
};

/* A child that will become this program in a role. */
static inline struct launched launch(const char *role, const char *number)
{
	int fds[2];
	char byte;
	struct launched child = {0};

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	child.pid = fork();
	if (child.pid == 0) {
		close(fds[1]);
		if (read(fds[0], &byte, 1) == 0)
			execl("/proc/self/exe", program_invocation_short_name, role, number, NULL);
		_exit(127);
	}
	close(fds[0]);
	child.hold = fds[1];
	return child;
}

#endif
