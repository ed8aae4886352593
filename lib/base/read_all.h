/* Reads the rest of a stream into memory. */
#ifndef PROF_BASE_READ_ALL_H
#define PROF_BASE_READ_ALL_H

#include <stddef.h>
#include <stdio.h>

/*
 * Reads the rest of a stream. The caller frees *ret. Returns 0 or an errno:
 * that of the stream, or EFBIG if there are more than max_bytes.
 */
int read_all(FILE *in, size_t max_bytes, char **ret, size_t *len);

#endif
