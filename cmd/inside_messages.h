/*
 * What is missing from a recording by libprof-inside.so, in words.
 */
#ifndef PROF_CMD_INSIDE_MESSAGES_H
#define PROF_CMD_INSIDE_MESSAGES_H

#include "cmd/recording.h"

/* After the end of sampling. */
void say_inside(const struct recording *recording);

#endif
