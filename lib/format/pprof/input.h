/*
 * Reads the bytes of a pprof profile, which is usually compressed with gzip.
 * Some producers write it uncompressed.
 */
#ifndef PROF_FORMAT_PPROF_INPUT_H
#define PROF_FORMAT_PPROF_INPUT_H

#include "base/error.h"

#include <stdio.h>

struct pprof_input {
	char *data; /* decompressed */
	size_t len;
	size_t file_bytes; /* size in the file */
};

/*
 * Reads the rest of a file. The caller frees ret->data. Fails for more than 2
 * GiB, which is protobuf's limit for a message, and for a file that expands to
 * more than limits.h allows.
 */
MUST_CHECK struct error *pprof_input(FILE *in, struct pprof_input *ret);

/* Returns the error for a message that cannot be decoded. */
MUST_CHECK struct error *pprof_damaged(void);

#endif
