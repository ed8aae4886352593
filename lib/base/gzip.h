/*
 * zlib's one door: gzip streams on top of a FILE, to write and to read, and the CRC that
 * .gnu_debuglink carries. The gzip time is 0: same bytes in, same bytes out.
 */
#ifndef PROF_BASE_GZIP_H
#define PROF_BASE_GZIP_H

#include "base/bytes.h"

#include <stdio.h>

/*
 * A stream whose bytes are written compressed to out, by as many threads as there are CPUs where
 * there are more than some. fclose() finishes it and leaves out open; it fails when a write failed.
 * out must outlive it, and is its alone until then. NULL (errno) only when out of memory.
 */
FILE *gzip_writer(FILE *out);

/*
 * A stream of what the gzip file in holds, from where in stands. A read fails (ferror(), errno)
 * with EBADMSG where in is damaged or cut off, and with EFBIG when there are more than limit_bytes:
 * a small file can unfold to a thousand times its size. fclose() leaves in open; in must outlive
 * it. NULL (errno) only when out of memory.
 */
FILE *gzip_reader(FILE *in, uint64_t limit_bytes);

/* CRC-32 as in gzip and .gnu_debuglink. */
uint32_t crc32_of(struct bytes data);

#endif
