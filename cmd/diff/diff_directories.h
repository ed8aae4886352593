/*
 * Implements prof diff on directories of profiles. Each benchmark is compared
 * with the one of the same name.
 *
 * The confidence applies to all benchmarks together: the more there are, the
 * larger a change must be to be significant. Profiles are read one benchmark
 * after the other, so memory does not grow with their number.
 */
#ifndef PROF_CMD_DIFF_DIFF_DIRECTORIES_H
#define PROF_CMD_DIFF_DIFF_DIRECTORIES_H

#include "cmd/diff/diff_options.h"

/* Compares the directories of the old and the new side. Prints errors. Returns
 * the exit status. */
int diff_directories(const struct diff_command_options *options, const struct option_list *old,
		     const struct option_list *new);

#endif
