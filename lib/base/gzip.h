/*
 * Gzip streams on top of a FILE, for writing and reading, and CRC-32. This is
 * the only user of zlib's streams and of ISA-L (igzip). The time in the gzip
 * header is 0, so equal input gives equal output.
 */
#ifndef PROF_BASE_GZIP_H
#define PROF_BASE_GZIP_H

#include "base/bytes.h"

#include <stdio.h>

/*
 * Returns a stream that writes its bytes compressed to out, on several threads
 * if there are several CPUs and enough bytes. fclose() finishes it, leaves out
 * open, and fails if a write failed. The stream owns out until then, and out
 * must outlive it. Returns NULL (errno) only if out of memory.
 */
FILE *gzip_writer(FILE *out);
/*
 * Like gzip_writer(), but much faster if prof was built with ISA-L. Equal input
 * can then give different output, because ISA-L searches for repetitions in
 * uninitialized tables.
 */
FILE *gzip_quick_writer(FILE *out);
/* Like gzip_writer(), but compresses better and takes longer. */
FILE *gzip_small_writer(FILE *out);

/*
 * Returns a stream of the decompressed content of the gzip file in, from its
 * current position, with all members. Zeros after a member are ignored, like in
 * gzip. A read fails (ferror(), errno) with EBADMSG if in is damaged or
 * truncated, and with EFBIG after limit_bytes, because a small file can expand
 * to a thousand times its size. fclose() leaves in open; in must outlive the
 * stream. Returns NULL (errno) only if out of memory.
 */
FILE *gzip_reader(FILE *in, uint64_t limit_bytes);

/* Returns the CRC-32 that gzip and .gnu_debuglink use. */
uint32_t crc32_of(struct bytes data);

#endif
