/*
 * Writes elsewhere what could not be written into its place: the directory has been removed while
 * prof recorded, its disk is full.
 */
#ifndef PROF_CMD_OUTPUT_RESCUE_H
#define PROF_CMD_OUTPUT_RESCUE_H

#include "base/error.h"

/* Does not close fd, an empty file. */
typedef struct error *output_rescue_write(void *user, int fd);

/*
 * Tries the current directory, $TMPDIR and /tmp, each with a new file "prof-NUMBER-NAME", mode
 * 0600. Returns its path, to be freed; NULL: it could not be written there, either.
 */
char *output_rescue(const char *name, output_rescue_write *write, void *user);

#endif
