/*
 * The title of a recording: what it samples, such as "nginx (pid 812)" or "cargo bench parser".
 */
#ifndef PROF_CMD_OPTIONS_SAMPLING_TITLE_H
#define PROF_CMD_OPTIONS_SAMPLING_TITLE_H

#include "cmd/options/sampling_options.h"

/*
 * Returns the title, which the caller frees. command ends with NULL and is empty without a command;
 * program is a path to show instead of its first word, or NULL. To be called after
 * sampling_find_targets(), while the processes run.
 */
char *sampling_title(const struct sampling_options *options, char *const *command,
		     const char *program);

#endif
