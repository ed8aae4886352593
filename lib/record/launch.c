#include "record/launch.h"

#include "base/alloc.h"
#include "base/forked_child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* The exit statuses of a shell that cannot execute a command. */
enum { STATUS_NOT_EXECUTABLE = 126, STATUS_NOT_FOUND = 127 };

/* Bytes that are written to the child. */
enum { GO = 'g', GO_WITH_LIBRARY = 'l' };

static void leave_terminal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		if (isatty(fd))
			dup2(null, fd);
}

struct command {
	char *const *argv;
	const struct signals *signals;
	enum launch_output output;
	struct inside_file *inside;
	pid_t prof;
	int hold[2], report[2]; /* pipes */
};

/* Runs in the child up to the exec. */
static int launch_become(void *user)
{
	struct command *command = user;
	char go;
	int number;

	/* With copies of prof's ends, the child would not notice that prof has
	 * exited. */
	close(command->hold[1]), close(command->report[0]);
	/* read() returns 0 if prof has given up or exited. */
	if (read(command->hold[0], &go, 1) != 1)
		return EXIT_FAILURE;
	if (command->output == LAUNCH_STDOUT_TO_STDERR)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	if (command->output == LAUNCH_OFF_TERMINAL)
		leave_terminal();
	/* Errors cannot occur here: the library was found before. */
	if (go == GO_WITH_LIBRARY)
		error_free(inside_file_lead(command->inside, command->prof));
	signals_restore(command->signals);
	execvp(command->argv[0], command->argv);
	number = errno;
	if (write(command->report[1], &number, sizeof(number)) != sizeof(number))
		return EXIT_FAILURE;
	return launch_refusal_status(number);
}

struct error *launch_prepare(char *const *argv, const struct signals *signals,
			     enum launch_output output, struct inside_file *inside,
			     struct launch *ret)
{
	struct command command = {argv, signals, output, inside, .prof = getpid()};
	struct error *err;

	if (pipe2(command.hold, O_CLOEXEC) < 0)
		return error_errno(errno, "start %s", argv[0]);
	if (pipe2(command.report, O_CLOEXEC) < 0) {
		close(command.hold[0]), close(command.hold[1]);
		return error_errno(errno, "start %s", argv[0]);
	}
	*ret = (struct launch){
		.pidfd = -1, .hold_fd = command.hold[1], .report_fd = command.report[0]};
	err = forked_child_start(FORKED_CHILD_LIVES_ON, launch_become, &command, &ret->pid);
	close(command.hold[0]), close(command.report[1]);
	if (!err)
		ret->pidfd = (int)syscall(SYS_pidfd_open, ret->pid, 0);
	if (!err && ret->pidfd < 0)
		err = error_errno(errno, "start %s", argv[0]);
	if (err)
		launch_deinit(ret);
	return err;
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

	/* The write cannot block. If the child has exited, the pidfd shows
	 * it. */
	if (write(launch->hold_fd, &go, 1) < 0 && errno != EPIPE)
		return error_errno(errno, "start %s", name);
	close(steal_fd(&launch->hold_fd));
	/* A successful exec closes the other end, and read() returns 0. */
	do
		len = read(launch->report_fd, &number, sizeof(number));
	while (len < 0 && errno == EINTR);
	if (len != sizeof(number))
		return NULL;
	launch_wait(launch);
	launch->refusal = number;
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
	int status = forked_child_wait(launch->pid).status;

	close(steal_fd(&launch->pidfd));
	return status;
}

void launch_deinit(struct launch *launch)
{
	bool held = launch->hold_fd >= 0;

	close_fd(&launch->hold_fd);
	close_fd(&launch->report_fd);
	if (launch->pid > 0 && held)
		forked_child_wait(launch->pid);
	close_fd(&launch->pidfd);
}
