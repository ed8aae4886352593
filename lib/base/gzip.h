/*
 * zlib's one door: a gzip stream on top of a FILE, and the CRC that .gnu_debuglink carries. The
 * gzip time is 0: same bytes in, same bytes out.
 */
#ifndef PROF_BASE_GZIP_H
#define PROF_BASE_GZIP_H

#include "base/bytes.h"

#include <stdio.h>

/*
 * A stream whose bytes are written compressed to out. fclose() finishes it and leaves out open; it
 * fails when a write failed. out must outlive it. NULL (errno) only when out of memory.
 */
FILE *gzip_writer(FILE *out);

/* CRC-32 as in gzip and .gnu_debuglink. */
uint32_t crc32_of(struct bytes data);

#endif
