/*
 * All that is left of a stream, in memory.
 */
#ifndef PROF_BASE_READ_ALL_H
#define PROF_BASE_READ_ALL_H

#include <stddef.h>
#include <stdio.h>

/* *ret: to be freed. An errno: that of the stream, EFBIG when there are more than max_bytes; else
 * 0. */
int read_all(FILE *in, size_t max_bytes, char **ret, size_t *len);

#endif
