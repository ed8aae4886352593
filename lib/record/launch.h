/*
 * Starts a command in two steps. launch_prepare() forks a child that waits on a pipe, so that
 * events can be opened on it. launch_release() lets it execute the command as a shell would have
 * done, with the signal mask, the dispositions and the limits that prof was started with.
 *
 * The child can load libprof-inside.so. Whether it does is known only when the recorder is open.
 */
#ifndef PROF_RECORD_LAUNCH_H
#define PROF_RECORD_LAUNCH_H

#include "base/signals.h"
#include "inside/file.h"

#include <stdbool.h>
#include <sys/types.h>

/* Where a command's output goes. */
enum launch_output {
	LAUNCH_OUTPUT,		 /* to where prof's goes */
	LAUNCH_STDOUT_TO_STDERR, /* its stdout to prof's stderr */
	LAUNCH_OFF_TERMINAL,	 /* a terminal is replaced by /dev/null, also as its input */
};

struct launch {
	pid_t pid;
	int pidfd;     /* readable when the command has ended; -1: waited for already */
	int hold_fd;   /* the command waits for a byte from here */
	int report_fd; /* the errno of a failed exec comes from here */
	int refusal;   /* its errno then; else 0 */
	/* To be set before launch_release(): the command loads the library. */
	bool loads_library;
};

/* argv ends with NULL. inside: the file that the library would use, borrowed until the call
 * returns; it must stay open. NULL: there is no library. */
MUST_CHECK struct error *launch_prepare(char *const *argv, const struct signals *signals,
					enum launch_output output, struct inside_file *inside,
					struct launch *ret);
/*
 * If the command cannot be executed, launch->refusal is the errno, and the child has been waited
 * for. launch_refusal_status() gives the exit status of a shell in this case.
 */
MUST_CHECK struct error *launch_release(struct launch *launch, const char *name);
int launch_refusal_status(int number);

/* True if the command has ended by this signal and was not waited for. */
bool launch_was_killed_by(const struct launch *launch, int signal);
/* Waits for the end; the status as waitpid(2) gives it. At most once. */
int launch_wait(struct launch *launch);
/* Ends a command that was not released; frees everything. Leaves a running one alone. */
void launch_deinit(struct launch *launch);

#endif
