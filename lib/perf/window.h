/*
 * Reads a file or a pipe from front to back, through a window of bounded size.
 */
#ifndef PROF_PERF_WINDOW_H
#define PROF_PERF_WINDOW_H

#include "base/bytes.h"

/* As much as can be looked at at once: any record. */
enum { WINDOW_LOOK_MAX = 1 << 16 };

struct window {
	int fd;
	bool seekable;
	uint64_t offset; /* in the file, or of the pipe, of the first byte not yet skipped */
	uint64_t end;	 /* where reading stops; UINT64_MAX: where the file does */
	unsigned char *memory;
	size_t at, filled;
	int error; /* errno of a read that failed, which looks like the end; 0: none */
};

/* Borrows fd, which is read from its present position on if it is a pipe, from `offset` on if not.
 */
void window_init(struct window *window, int fd, bool seekable, uint64_t offset);
void window_deinit(struct window *window);

/* Goes on elsewhere; of seekable files. */
void window_seek(struct window *window, uint64_t offset, uint64_t end);

/* The next len bytes, not skipped, in *ret; fewer where the end is near. Borrowed until the next
 * call. */
void window_look(struct window *window, size_t len, struct bytes *ret);
/* False: the end came first. */
bool window_skip(struct window *window, uint64_t len);

#endif
