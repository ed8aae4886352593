/*
 * Decompresses a file that was compressed with gzip, xz or zstd, whatever it
 * contains. pprof profiles stay compressed with gzip, because their reader
 * limits memory by the compressed size.
 */
#ifndef PROF_CMD_INPUT_UNPACKED_FILE_H
#define PROF_CMD_INPUT_UNPACKED_FILE_H

#include "base/error.h"

enum {
	/* The maximum decompressed size: this many bytes, plus this many per
	 * compressed byte. */
	UNPACKED_FILE_BYTES = 128 << 20,
	UNPACKED_FILE_BYTES_PER_BYTE = 256,
};

/*
 * Replaces *fd, which may be a pipe, by a file in memory with the decompressed
 * bytes and the same modification time. Keeps *fd if the first bytes are not
 * those of a compressed file.
 */
MUST_CHECK struct error *unpacked_file(int *fd, const unsigned char *first, size_t len);

#endif
