#include "record/launch.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* The exit statuses of a shell that cannot execute a command. */
enum { STATUS_NOT_EXECUTABLE = 126, STATUS_NOT_FOUND = 127 };

/* What is written to the child. */
enum { GO = 'g', GO_WITH_LIBRARY = 'l' };

static void leave_terminal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		if (isatty(fd))
			dup2(null, fd);
}

/* In the child, up to the exec. */
__attribute__((noreturn)) static void become(char *const *argv, const struct signals *signals,
					     enum launch_output output, struct inside_file *inside,
					     pid_t prof, int hold_fd, int report_fd)
{
	char go;
	int number;

	/* No byte comes if prof has given up or ended. */
	if (read(hold_fd, &go, 1) != 1)
		_exit(EXIT_FAILURE);
	if (output == LAUNCH_STDOUT_TO_STDERR)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	if (output == LAUNCH_OFF_TERMINAL)
		leave_terminal();
	/* Its errors were found before: the library is where it was. */
	if (go == GO_WITH_LIBRARY)
		error_free(inside_file_lead(inside, prof));
	signals_restore(signals);
	execvp(argv[0], argv);
	number = errno;
	if (write(report_fd, &number, sizeof(number)) != sizeof(number))
		_exit(EXIT_FAILURE);
	_exit(launch_refusal_status(number));
}

struct error *launch_prepare(char *const *argv, const struct signals *signals,
			     enum launch_output output, struct inside_file *inside,
			     struct launch *ret)
{
	int hold[2], report[2];
	pid_t prof = getpid(), pid;

	if (pipe2(hold, O_CLOEXEC) < 0)
		return error_errno(errno, "start %s", argv[0]);
	if (pipe2(report, O_CLOEXEC) < 0) {
		close(hold[0]), close(hold[1]);
		return error_errno(errno, "start %s", argv[0]);
	}
	pid = fork();
	if (pid == 0) {
		/* With copies of prof's ends the child would not see that prof has ended. */
		close(hold[1]), close(report[0]);
		become(argv, signals, output, inside, prof, hold[0], report[1]);
	}
	close(hold[0]), close(report[1]);
	*ret = (struct launch){.pid = pid, .pidfd = -1, .hold_fd = hold[1], .report_fd = report[0]};
	if (pid > 0)
		ret->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (ret->pidfd < 0) {
		struct error *err = error_errno(errno, "start %s", argv[0]);

		launch_deinit(ret);
		return err;
	}
	return NULL;
}

int launch_refusal_status(int number)
{
	switch (number) {
	case ENOENT:
	case ENOTDIR:
	case ELOOP:
	case ENAMETOOLONG:
		return STATUS_NOT_FOUND;
	default:
		return STATUS_NOT_EXECUTABLE;
	}
}

struct error *launch_release(struct launch *launch, const char *name)
{
	char go = launch->loads_library ? GO_WITH_LIBRARY : GO;
	int number = 0;
	ssize_t len;

	/* It cannot block, and the pidfd shows that a child has ended. */
	if (write(launch->hold_fd, &go, 1) < 0 && errno != EPIPE)
		return error_errno(errno, "start %s", name);
	close(steal_fd(&launch->hold_fd));
	/* The exec closes the other end; nothing comes when it succeeds. */
	do
		len = read(launch->report_fd, &number, sizeof(number));
	while (len < 0 && errno == EINTR);
	if (len != sizeof(number))
		return NULL;
	launch_wait(launch);
	launch->refusal = number;
	if (number == ENOENT && !strchr(name, '/'))
		return error_hint(error_errno(number, "%s", name), "no such command in PATH");
	return error_errno(number, "%s", name);
}

bool launch_was_killed_by(const struct launch *launch, int signal)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t)launch->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == launch->pid && info.si_code != CLD_EXITED && info.si_status == signal;
}

int launch_wait(struct launch *launch)
{
	int status = 0;

	while (waitpid(launch->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	close(steal_fd(&launch->pidfd));
	return status;
}

void launch_deinit(struct launch *launch)
{
	bool held = launch->hold_fd >= 0;

	close_fd(&launch->hold_fd);
	close_fd(&launch->report_fd);
	if (launch->pid > 0 && held)
		waitpid(launch->pid, NULL, 0);
	close_fd(&launch->pidfd);
}
