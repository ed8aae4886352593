/*
 * Implements prof diff on two sides of one program: the report of functions and
 * stacks.
 */
#ifndef PROF_CMD_DIFF_DIFF_RECORDINGS_H
#define PROF_CMD_DIFF_DIFF_RECORDINGS_H

#include "cmd/diff/diff_options.h"

/* Compares the files of the old and the new side. Prints errors. Returns the
 * exit status. */
int diff_recordings(const struct diff_command_options *options, const struct option_list *old,
		    const struct option_list *new);

#endif
