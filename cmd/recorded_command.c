#include "cmd/recorded_command.h"

#include "base/alloc.h"
#include "cmd/command.h"
#include "cmd/message.h"

#include <poll.h>
#include <sys/wait.h>

/* How long a command has to end by itself before a signal is passed on to it. */
enum { GRACE_MS = 1000 };

struct error *recorded_command_prepare(struct recording *recording, enum launch_output output)
{
	struct error *err;

	if (!*recording->command)
		return NULL;
	err = launch_prepare(recording->command, recording->signals, output, &recording->launch);
	recording->has_command = !err;
	return err;
}

void recorded_command_stop(struct recording *recording)
{
	if (recording->has_command &&
	    (recording->end == END_TARGET || recording->end == END_DURATION))
		kill(recording->launch.pid, SIGTERM);
}

/*
 * After a signal the command may go on, to clean up or because it caught it; prof waits for it as a
 * shell would, and a further signal ends the wait. Whoever signalled prof by kill(2) has signalled
 * the command as well (timeout(1) does: the whole process group), or counts on prof to pass it on:
 * nothing tells, so it is passed on only to a command that has not ended soon.
 */
int recorded_command_wait(struct recording *recording)
{
	struct pollfd fds[] = {{.fd = recording->launch.pidfd, .events = POLLIN},
			       {.fd = recording->signals->fd, .events = POLLIN}};
	struct received_signal signal;
	int timeout_ms = GRACE_MS;

	while (!fds[0].revents) {
		if (poll(fds, ARRAY_SIZE(fds), timeout_ms) == 0) {
			timeout_ms = -1;
			if (recording->end == END_SIGNAL && !recording->signal.by_terminal)
				kill(recording->launch.pid, recording->signal.number);
			if (!recording->quiet)
				message("waiting for %s to end; Ctrl-C leaves it alone",
					recording->command[0]);
		}
		if (fds[1].revents && signals_next(recording->signals, &signal) &&
		    signal.number != SIGUSR2)
			signals_die(signal.number);
	}
	return launch_wait(&recording->launch);
}

int recorded_command_end(struct recording *recording)
{
	int status = recorded_command_wait(recording);

	if (recording->end == END_TARGET || recording->end == END_DURATION)
		return STATUS_OK;
	if (WIFSIGNALED(status))
		signals_die(WTERMSIG(status));
	return WEXITSTATUS(status);
}
