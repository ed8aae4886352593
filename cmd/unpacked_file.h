/*
 * Unpacks a file that gzip, xz or zstd has compressed, whatever is in it. pprof profiles are left
 * packed with gzip, because their reader bounds memory by the size of the packed file.
 */
#ifndef PROF_CMD_UNPACKED_FILE_H
#define PROF_CMD_UNPACKED_FILE_H

#include "base/error.h"

enum {
	/* Bytes of the unpacked file, and this many for each byte of the packed one. */
	UNPACKED_FILE_BYTES = 128 << 20,
	UNPACKED_FILE_BYTES_PER_BYTE = 256,
};

/*
 * Replaces *fd, which may be a pipe, by a file in memory with the unpacked bytes and the same time
 * of modification, if its first bytes are those of a packed file. Keeps *fd otherwise.
 */
MUST_CHECK struct error *unpacked_file(int *fd, const unsigned char *first, size_t len);

#endif
