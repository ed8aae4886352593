/*
 * Sequential input from a file, which is mapped, or from a pipe, which is
 * buffered.
 *
 * Pages of a mapping that were read are dropped every 32 MiB, so a file needs
 * no more memory than a pipe. Another program may write to the file, so bytes
 * that are read twice may differ. If the file is truncated, reading raises
 * SIGBUS, and the program's signal handler must map zeros there.
 */
#ifndef PROF_PERFDATA_FILE_INPUT_H
#define PROF_PERFDATA_FILE_INPUT_H

#include "base/bytes.h"
#include "base/error.h"

/* Maximum size for file_input_look(); any record fits. */
enum { FILE_INPUT_LOOK_MAX = 1 << 16 };

struct file_input {
	int fd;
	/* Offset of the first unskipped byte in the file or the pipe. */
	uint64_t offset;
	/* Reading stops here; UINT64_MAX stops at the end of the file. */
	uint64_t end;
	/* Errno of a failed read, which counts as the end of input; otherwise
	 * 0. */
	int error;

	const unsigned char *map; /* NULL for a pipe */
	size_t map_bytes;
	/* Bytes of the map that were used since pages were last dropped. */
	size_t used_bytes;

	unsigned char *memory; /* buffer of a pipe */
	size_t at, filled;
};

/* Borrows fd. file_bytes is the size of a file, or 0 for a pipe, which is read
 * from its current position. */
MUST_CHECK struct error *file_input_init(struct file_input *input, int fd, uint64_t file_bytes);
void file_input_deinit(struct file_input *input);

/* Continues at offset, up to end. Only for files. */
void file_input_seek(struct file_input *input, uint64_t offset, uint64_t end);

/* Returns the next len bytes without skipping them, or fewer near the end. They
 * are borrowed until the next call, or for a file until file_input_deinit(). */
void file_input_look(struct file_input *input, size_t len, struct bytes *ret);
/* Returns false if there are fewer bytes. */
bool file_input_skip(struct file_input *input, uint64_t len);

/* Accounts for bytes from file_input_look() that were read a second time. */
void file_input_count(struct file_input *input, size_t len);
/* Returns whether the file has become shorter since it was opened. */
bool file_input_is_cut(const struct file_input *input);

#endif
