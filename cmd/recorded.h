/*
 * The profile of a recording of perf: its samples take the same way through session, unwinder and
 * naming as live ones.
 */
#ifndef PROF_CMD_RECORDED_H
#define PROF_CMD_RECORDED_H

#include "cmd/input.h"

/* Takes fd. input->profile is empty, and is filled. */
MUST_CHECK struct error *recorded_read(int fd, const struct input_options *options,
				       struct input *input);

#endif
