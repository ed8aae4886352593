/*
 * prof diff of directories of profiles: each benchmark is compared with the one of the same name.
 *
 * Confidence is that of all benchmarks together: the more there are, the larger a change must be.
 * Profiles are read one benchmark after the other, so memory does not grow with their number.
 */
#ifndef PROF_CMD_DIFF_DIRECTORIES_H
#define PROF_CMD_DIFF_DIRECTORIES_H

#include "cmd/diff_options.h"

/* Directories of the old and the new side. Prints errors; returns the exit status. */
int diff_directories(const struct diff_command_options *options, const struct option_list *old,
		     const struct option_list *new);

#endif
