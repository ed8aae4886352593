/*
 * Opens a written profile in the desktop's viewer (xdg-open), which is a
 * browser.
 */
#ifndef PROF_CMD_VIEWER_H
#define PROF_CMD_VIEWER_H

#include "output/output.h"

/* Opens the first output that a desktop can open, as the user who called sudo.
 * Prints failures. */
void viewer_open(const struct output *outputs, size_t count);

#endif
