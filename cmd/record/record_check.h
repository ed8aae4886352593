/* Checks for options and outputs of prof record that exclude each other or need
 * another one. */
#ifndef PROF_CMD_RECORD_RECORD_CHECK_H
#define PROF_CMD_RECORD_RECORD_CHECK_H

#include "cmd/outputs.h"
#include "cmd/record/record_options.h"
#include "record/config.h"

/*
 * Chooses the events and completes the rotation options. command: the name of
 * the command to start, or NULL.
 */
MUST_CHECK struct error *record_check_options(struct record_options *options, const char *command);

/*
 * Finds the output that is a perf.data file; stores NULL if there is none.
 * Fails if there are several, which would be identical, or if perf.data cannot
 * hold what is recorded.
 */
MUST_CHECK struct error *record_find_raw(const struct outputs *outputs,
					 const struct record_config *config, struct output **ret);

#endif
