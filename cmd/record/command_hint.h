/* Hints for a command that cannot be executed, or that failed: what the user may have meant. */
#ifndef PROF_CMD_RECORD_COMMAND_HINT_H
#define PROF_CMD_RECORD_COMMAND_HINT_H

#include "cmd/record/recording.h"

/*
 * Adds a hint to the error of recording_start() if the command does not exist: how to record the
 * running processes of this name or number, a program of this name in a usual directory, or the
 * option for a duration. prof: the command of prof, such as "record". Takes err; NULL stays NULL.
 */
MUST_CHECK struct error *command_hint(struct error *err, const struct recording *recording,
				      const char *prof);

/*
 * Prints how to record the running processes of the command's name, if it failed soon and had no
 * arguments: `prof record nginx` starts a second nginx, whose port is in use. status: of prof.
 */
void command_hint_after(const struct recording *recording, int status);

#endif
