#include "base/forked_child.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* The polling interval if there is no descriptor to wait for. */
enum { FORKED_CHILD_TICK_MS = 5 };

bool forked_child_end_with(pid_t parent)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && getppid() == parent;
}

struct error *forked_child_start(enum forked_child_life life, int (*main)(void *user), void *user,
				 pid_t *ret)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0 && life == FORKED_CHILD_ENDS_WITH_THREAD && !forked_child_end_with(parent))
		_exit(EXIT_FAILURE);
	if (pid == 0)
		_exit(main(user));
	*ret = pid;
	return pid < 0 ? error_errno(errno, "start a process") : NULL;
}

/* Returns false if the options have WNOHANG and the child still runs. */
static bool forked_child_reap(pid_t child, int options, struct forked_child_end *ret)
{
	struct rusage usage = {0};
	int status = 0;
	pid_t ended;

	do
		ended = wait4(child, &status, options, &usage);
	while (ended < 0 && errno == EINTR);
	*ret = (struct forked_child_end){
		.status = status,
		.cpu_ns = clock_ns_of(usage.ru_utime) + clock_ns_of(usage.ru_stime),
		.peak_bytes = (uint64_t)usage.ru_maxrss * 1024,
	};
	return ended != 0;
}

struct forked_child_end forked_child_wait(pid_t child)
{
	struct forked_child_end end;

	forked_child_reap(child, 0, &end);
	return end;
}

struct forked_child_end forked_child_kill(pid_t child)
{
	assert(child > 0);
	kill(child, SIGKILL);
	return forked_child_wait(child);
}

bool forked_child_wait_until(pid_t child, uint64_t until_ns, struct forked_child_end *ret)
{
	CLEANUP(close_fd) int pidfd = until_ns ? (int)syscall(SYS_pidfd_open, child, 0) : -1;
	struct pollfd ended = {.fd = pidfd, .events = POLLIN};

	while (!forked_child_reap(child, WNOHANG, ret)) {
		uint64_t now_ns = clock_now_ns();

		if (now_ns >= until_ns)
			return false;
		poll(&ended, 1,
		     pidfd < 0 ? FORKED_CHILD_TICK_MS : (int)((until_ns - now_ns) / NS_PER_MS) + 1);
	}
	return true;
}
