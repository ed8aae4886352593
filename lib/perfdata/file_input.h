/*
 * Sequential input: a file through a mapping, a pipe through a buffer.
 *
 * Pages of a mapping that have been read are dropped every 32 MiB, so a file needs no more memory
 * than a pipe. Another program may write to the file: bytes that are read twice may differ. If the
 * file is truncated, reading raises SIGBUS; the program's signal handler has to map zeros there.
 */
#ifndef PROF_PERFDATA_FILE_INPUT_H
#define PROF_PERFDATA_FILE_INPUT_H

#include "base/bytes.h"
#include "base/error.h"

/* file_input_look() shows at most this much: any record. */
enum { FILE_INPUT_LOOK_MAX = 1 << 16 };

struct file_input {
	int fd;
	uint64_t offset; /* of the first byte that was not skipped, in the file or the pipe */
	uint64_t end;	 /* reading stops here; UINT64_MAX: at the end of the file */
	int error;	 /* errno of a failed read, which is treated as the end; 0: none */

	const unsigned char *map; /* NULL: a pipe */
	size_t map_bytes;
	size_t used_bytes; /* of the map, since its pages were dropped */

	unsigned char *memory; /* of a pipe */
	size_t at, filled;
};

/* Borrows fd. file_bytes: the size of a file; 0: a pipe, read from its current position. */
MUST_CHECK struct error *file_input_init(struct file_input *input, int fd, uint64_t file_bytes);
void file_input_deinit(struct file_input *input);

/* Files only: continues at offset, up to end. */
void file_input_seek(struct file_input *input, uint64_t offset, uint64_t end);

/* The next len bytes, without skipping them; fewer near the end. Borrowed until the next call, or
 * of a file until file_input_deinit(). */
void file_input_look(struct file_input *input, size_t len, struct bytes *ret);
/* False: there are fewer bytes. */
bool file_input_skip(struct file_input *input, uint64_t len);

/* Counts bytes that were read again later, where file_input_look() had shown them. */
void file_input_count(struct file_input *input, size_t len);
/* Whether the file has become shorter since it was opened. */
bool file_input_is_cut(const struct file_input *input);

#endif
