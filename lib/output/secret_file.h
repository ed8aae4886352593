/*
 * Reads a small file of a secret: a token, the key of a certificate.
 *
 * The path is walked as that of an output (place.h): a link of another user is not followed. The
 * file is opened once, without blocking, and what was opened is checked. It must be a regular file
 * of a trusted user (base/trusted_user.h) that only its owner can read: otherwise others know the
 * secret, or choose it.
 */
#ifndef PROF_OUTPUT_SECRET_FILE_H
#define PROF_OUTPUT_SECRET_FILE_H

#include "base/error.h"

/* The caller frees *ret, a text. Refuses more than 64 KiB, and a NUL. */
MUST_CHECK struct error *secret_file_read(const char *path, char **ret);
/* The same of a file that anybody may know and own: a certificate. */
MUST_CHECK struct error *secret_file_read_public(const char *path, char **ret);

#endif
