/*
 * Gzip streams on top of a FILE, for writing and reading, and CRC-32. The only user of zlib's
 * streams, and of ISA-L (igzip). The time in the gzip header is 0, so equal input gives equal
 * output.
 */
#ifndef PROF_BASE_GZIP_H
#define PROF_BASE_GZIP_H

#include "base/bytes.h"

#include <stdio.h>

/*
 * A stream that writes its bytes compressed to out, on several threads if there are several CPUs
 * and enough bytes. fclose() finishes it and leaves out open; it fails if a write failed. out must
 * outlive it and belongs to it until then. NULL (errno) only if out of memory.
 */
FILE *gzip_writer(FILE *out);
/* The same, if prof was built with ISA-L in a quarter of the time, but equal input can give other
 * output: ISA-L looks for repetitions in tables that it has not initialized. */
FILE *gzip_quick_writer(FILE *out);
/* The same, compressed well: a tenth smaller, in three times zlib's time for the other. */
FILE *gzip_small_writer(FILE *out);

/*
 * A stream of what the gzip file in holds, from where in stands: all of its members; zeros after a
 * member are ignored, as gzip does. A read fails (ferror(), errno)
 * with EBADMSG where in is damaged or cut off, and with EFBIG when there are more than limit_bytes:
 * a small file can unfold to a thousand times its size. fclose() leaves in open; in must outlive
 * it. NULL (errno) only when out of memory.
 */
FILE *gzip_reader(FILE *in, uint64_t limit_bytes);

/* CRC-32 as in gzip and .gnu_debuglink. */
uint32_t crc32_of(struct bytes data);

#endif
