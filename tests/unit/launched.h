/* Starts the test program again as a child in a role, for tests of the sampler. */
#ifndef PROF_TESTS_UNIT_LAUNCHED_H
#define PROF_TESTS_UNIT_LAUNCHED_H

#include "base/cleanup.h"
#include "base/error.h"

#include "unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

struct launched {
	pid_t pid;
	int hold; /* closing it makes the child call exec */
};

/* Starts a child that will execute this program in a role. */
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

static inline void assert_ok(struct error *err)
{
	if (!err)
		return;
	print_error("%s\n", error_text(err));
	error_free(err);
	fail();
}

/* Returns -1 if it is unknown. */
static inline int paranoid_level(void)
{
	CLEANUP(close_file) FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level = 0;

	return file && fscanf(file, "%d", &level) == 1 ? level : -1;
}

#endif
