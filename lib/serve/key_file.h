/* Reads small files of keys and certificates. */
#ifndef PROF_SERVE_KEY_FILE_H
#define PROF_SERVE_KEY_FILE_H

#include "base/error.h"

#include <stdbool.h>

/*
 * The caller frees *ret, a text. Refuses what is not a regular file, is larger than 64 KiB or has a
 * NUL. is_secret: also what others than the owner and the group can read, or others than the owner
 * write.
 */
MUST_CHECK struct error *key_file_read(const char *path, bool is_secret, char **ret);

#endif
