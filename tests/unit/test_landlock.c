#include "sandbox/landlock.h"

#include "lacking.h"
#include "unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CREATE_RULESET = 444, QUERY_VERSION = 1, ABI_WITH_SCOPES = 6 };

static bool can_write(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Returns the first access that should be denied but is allowed, or the
 * reverse; 0 if there is none. */
static int first_fault(const char *inside, const char *outside, long abi)
{
	char path[64], renamed[64];
	int directory = open(inside, O_PATH | O_DIRECTORY | O_CLOEXEC);

	snprintf(path, sizeof(path), "%s/file", inside);
	snprintf(renamed, sizeof(renamed), "%s/renamed", inside);
	if (landlock_write_below(directory))
		return 1;
	if (!can_write(path) || rename(path, renamed) < 0 || unlink(renamed) < 0)
		return 2;
	snprintf(path, sizeof(path), "%s/file", outside);
	if (can_write(path) || unlink(outside) == 0 || rmdir(outside) == 0)
		return 3;
	if (open("/proc/self/stat", O_RDONLY | O_CLOEXEC) < 0)
		return 4;
	execl("/bin/true", "true", NULL);
	if (errno != EACCES)
		return 5;
	if (abi >= ABI_WITH_SCOPES && kill(getppid(), 0) == 0)
		return 6;
	return 0;
}

TEST(files_are_written_below_one_directory_alone)
{
	char inside[] = "/tmp/inside-XXXXXX", outside[] = "/tmp/outside-XXXXXX";
	long abi = syscall(CREATE_RULESET, NULL, 0, QUERY_VERSION);
	int status;
	pid_t pid;

	if (abi < 2)
		RETURN_LACKING("Landlock");
	assert_non_null(mkdtemp(inside));
	assert_non_null(mkdtemp(outside));
	pid = fork();
	if (pid == 0)
		_exit(first_fault(inside, outside, abi));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(rmdir(inside), 0);
	assert_int_equal(rmdir(outside), 0);
}
