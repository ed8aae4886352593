/*
 * The bytes of a pprof profile: gzipped most often, plain from some producers.
 */
#ifndef PROF_FORMAT_PPROF_INPUT_H
#define PROF_FORMAT_PPROF_INPUT_H

#include "base/error.h"

#include <stdio.h>

/*
 * All that is left of a file, unpacked; *ret is to be freed. More than 2 GiB, protobuf's own limit
 * for a message, is an error.
 */
MUST_CHECK struct error *pprof_input(FILE *in, char **ret, size_t *len);

#endif
