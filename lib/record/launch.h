/*
 * Starts a command in two steps. launch_prepare() forks a child that waits on a
 * pipe, so that events can be opened on it. launch_release() lets the child
 * execute the command, with the signal mask, signal dispositions and limits
 * that prof was started with.
 *
 * The child can load libprof-inside.so. Whether it must is known only when the
 * recorder is open.
 */
#ifndef PROF_RECORD_LAUNCH_H
#define PROF_RECORD_LAUNCH_H

#include "base/signals.h"
#include "inside/file.h"

#include <stdbool.h>
#include <sys/types.h>

/* Where the output of a command goes. */
enum launch_output {
	LAUNCH_OUTPUT,		 /* same as prof's output */
	LAUNCH_STDOUT_TO_STDERR, /* stdout goes to prof's stderr */
	LAUNCH_OFF_TERMINAL,	 /* /dev/null replaces a terminal, also as stdin */
};

struct launch {
	pid_t pid;
	int pidfd;     /* readable when the command has ended; -1 after it was waited for */
	int hold_fd;   /* the command waits for a byte from this pipe */
	int report_fd; /* the errno of a failed exec arrives here */
	int refusal;   /* errno of a failed exec; else 0 */
	/* The command loads the agent. May be set until launch_release(). */
	bool loads_library;
};

/* argv ends with NULL. inside is the agent's shared buffer, borrowed until the
 * call returns; it must stay open. NULL if there is no agent. */
MUST_CHECK struct error *launch_prepare(char *const *argv, const struct signals *signals,
					enum launch_output output, struct inside_file *inside,
					struct launch *ret);
/*
 * If the command cannot be executed, sets launch->refusal to the errno and
 * waits for the child. launch_refusal_status() returns the exit status that a
 * shell would return for this errno.
 */
MUST_CHECK struct error *launch_release(struct launch *launch, const char *name);
int launch_refusal_status(int number);

/* Whether the command was ended by this signal and was not waited for yet. */
bool launch_was_killed_by(const struct launch *launch, int signal);
/* Waits for the end and returns the status in the format of waitpid(2). May be
 * called once. */
int launch_wait(struct launch *launch);
/* Ends a command that was not released, and frees everything. Does not affect a
 * running command. */
void launch_deinit(struct launch *launch);

#endif
