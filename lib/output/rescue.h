/*
 * Writes an output to a fallback path if its own path failed, for example
 * because its directory was removed during the recording or because the disk is
 * full.
 */
#ifndef PROF_OUTPUT_RESCUE_H
#define PROF_OUTPUT_RESCUE_H

#include "base/error.h"

/* Writes to fd, an empty file. Must not close it. */
typedef struct error *output_rescue_write(void *user, int fd);

/*
 * Tries the current directory, $TMPDIR and /tmp, each with a new file
 * "prof-NUMBER-NAME" of mode 0600. Returns its path, which the caller frees, or
 * NULL if all of them failed.
 */
char *output_rescue(const char *name, output_rescue_write *write, void *user);

#endif
