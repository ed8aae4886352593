/* Recognizes files of other profilers that prof cannot read, and suggests what
 * to do with them. */
#ifndef PROF_CMD_INPUT_UNKNOWN_FILE_H
#define PROF_CMD_INPUT_UNKNOWN_FILE_H

#include "base/error.h"

/* first: the first 64 bytes of the file, or all of it. Returns NULL if the file
 * is not one of these. */
MUST_CHECK struct error *unknown_file(const unsigned char *first, size_t len);

#endif
