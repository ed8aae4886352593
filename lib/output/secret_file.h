/*
 * Reads a small file with a secret: a token or the private key of a
 * certificate.
 *
 * The path is walked like that of an output (place.h): a symbolic link of
 * another user is not followed. The file is opened once, without blocking, and
 * checked after that. It must be a regular file of a trusted user
 * (base/trusted_user.h) that only its owner can read. Otherwise others could
 * know or choose the secret.
 */
#ifndef PROF_OUTPUT_SECRET_FILE_H
#define PROF_OUTPUT_SECRET_FILE_H

#include "base/error.h"

/* Sets *ret to a string that the caller frees. Fails if the file is larger than
 * 64 KiB or contains a NUL. */
MUST_CHECK struct error *secret_file_read(const char *path, char **ret);
/* Like secret_file_read(), for a file that anyone may read and own: a
 * certificate. */
MUST_CHECK struct error *secret_file_read_public(const char *path, char **ret);

#endif
