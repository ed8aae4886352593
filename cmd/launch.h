/*
 * Starts a command in two steps: prepared, it waits on a pipe, so that its events can be opened;
 * released, it runs as if a shell had started it, with the signal mask, the dispositions and the
 * limits that prof was started with.
 */
#ifndef PROF_CMD_LAUNCH_H
#define PROF_CMD_LAUNCH_H

#include "cmd/signals.h"

#include <sys/types.h>

/* Where a command's output goes. */
enum launch_output {
	LAUNCH_OUTPUT,		 /* where prof's goes */
	LAUNCH_STDOUT_TO_STDERR, /* its stdout to prof's stderr */
	LAUNCH_OFF_TERMINAL,	 /* what of its input and output is a terminal is /dev/null */
};

struct launch {
	pid_t pid;
	int pidfd;     /* readable when the command has ended; -1: waited for already */
	int hold_fd;   /* the command waits for a byte from here */
	int report_fd; /* what exec says, when it fails */
	int refusal;   /* its errno then; else 0 */
};

/* argv ends with NULL. */
MUST_CHECK struct error *launch_prepare(char *const *argv, const struct signals *signals,
					enum launch_output output, struct launch *ret);
/*
 * When the command cannot be executed, launch->refusal says why, and launch_refusal_status() with
 * what status a shell would end; it has been waited for.
 */
MUST_CHECK struct error *launch_release(struct launch *launch, const char *name);
int launch_refusal_status(int number);

/* Waits for the end; the status as waitpid(2) gives it. At most once. */
int launch_wait(struct launch *launch);
/* Ends a command that was not released; frees everything. Leaves a running one alone. */
void launch_deinit(struct launch *launch);

#endif
