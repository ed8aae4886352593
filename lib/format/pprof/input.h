/* Reads the bytes of a pprof profile: usually compressed with gzip, plain from some producers. */
#ifndef PROF_FORMAT_PPROF_INPUT_H
#define PROF_FORMAT_PPROF_INPUT_H

#include "base/error.h"

#include <stdio.h>

struct pprof_input {
	char *data; /* decompressed */
	size_t len;
	size_t file_bytes; /* as they were in the file */
};

/*
 * Reads the rest of a file. The caller frees ret->data. More than 2 GiB, protobuf's limit for a
 * message, is an error, and so is a file that unpacks to more than limits.h allows.
 */
MUST_CHECK struct error *pprof_input(FILE *in, struct pprof_input *ret);

#endif
