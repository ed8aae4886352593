/*
 * Opens a profile that has been written in whatever the desktop opens such a file with: a browser.
 */
#ifndef PROF_CMD_SHOWING_H
#define PROF_CMD_SHOWING_H

#include "cmd/output.h"

/* The first of the outputs that a desktop can open. As the user who called sudo; tells what stands
 * in the way. */
void show_output(const struct output *outputs, size_t count);

#endif
