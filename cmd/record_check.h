/* Which options and outputs of prof record exclude each other, or lack something. */
#ifndef PROF_CMD_RECORD_CHECK_H
#define PROF_CMD_RECORD_CHECK_H

#include "cmd/outputs.h"
#include "cmd/record_options.h"
#include "record/config.h"

/*
 * Chooses the events and settles the rotation. command: the name of the one that is started; NULL:
 * none.
 */
MUST_CHECK struct error *record_check_options(struct record_options *options, const char *command);

/*
 * The output that is a perf.data file; NULL: none. There can be one: several would be the same.
 * Fails also if it cannot hold what is recorded.
 */
MUST_CHECK struct error *record_find_raw(const struct outputs *outputs,
					 const struct record_config *config, struct output **ret);

#endif
