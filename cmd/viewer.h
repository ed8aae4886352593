/*
 * Opens a written profile in the desktop's viewer for it (xdg-open), which is a browser.
 */
#ifndef PROF_CMD_VIEWER_H
#define PROF_CMD_VIEWER_H

#include "cmd/output.h"

/* Opens the first of the outputs that a desktop can open, as the user who called sudo. Prints what
 * fails. */
void viewer_open(const struct output *outputs, size_t count);

#endif
