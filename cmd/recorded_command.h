/*
 * The command that a recording is of, or that bounds it: from its start to what becomes of it, and
 * so of prof, when the recording is over.
 */
#ifndef PROF_CMD_RECORDED_COMMAND_H
#define PROF_CMD_RECORDED_COMMAND_H

#include "cmd/recording.h"

/* Before recording_open(). Nothing happens where there is no command. */
MUST_CHECK struct error *recorded_command_prepare(struct recording *recording,
						  enum launch_output output);

/* The recording is over: a command that is still to run on gets SIGTERM. It is told at once; it
 * need not wait until a profile is written. */
void recorded_command_stop(struct recording *recording);
/* Waits for its end; its status, as waitpid(2) gives it. */
int recorded_command_wait(struct recording *recording);
/* The same; the exit status of prof, which is the command's own where its end was the recording's.
 */
int recorded_command_end(struct recording *recording);

#endif
