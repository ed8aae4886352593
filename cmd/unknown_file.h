/* Names files of other profilers that prof does not read, and what to do with them. */
#ifndef PROF_CMD_UNKNOWN_FILE_H
#define PROF_CMD_UNKNOWN_FILE_H

#include "base/error.h"

/* first: 64 bytes of the file, or all. Returns NULL if it is none of these files. */
MUST_CHECK struct error *unknown_file(const unsigned char *first, size_t len);

#endif
