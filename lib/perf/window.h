/*
 * Reads a recording from front to back: a file where it lies, by a map; a pipe through memory of
 * bounded size.
 *
 * A map is read-only, and what was read of it goes back to the kernel now and then: it takes no
 * more memory than a pipe does. Somebody may write to the file meanwhile, so what is read twice may
 * not be the same twice; where it is cut short, a program that is to survive makes zeros of the
 * SIGBUS.
 */
#ifndef PROF_PERF_WINDOW_H
#define PROF_PERF_WINDOW_H

#include "base/bytes.h"
#include "base/error.h"

/* As much as can be looked at at once: any record. */
enum { WINDOW_LOOK_MAX = 1 << 16 };

struct window {
	int fd;
	uint64_t offset; /* in the file, or of the pipe, of the first byte not yet skipped */
	uint64_t end;	 /* where reading stops; UINT64_MAX: where the file does */
	int error;	 /* errno of a read that failed, which looks like the end; 0: none */

	const unsigned char *map; /* NULL: a pipe */
	size_t map_bytes;
	size_t used_bytes; /* of the map, since its memory was given back */

	unsigned char *memory; /* of a pipe */
	size_t at, filled;
};

/* Borrows fd. file_bytes: the size of a file; 0: a pipe, read from its present position on. */
MUST_CHECK struct error *window_init(struct window *window, int fd, uint64_t file_bytes);
void window_deinit(struct window *window);

/* Goes on elsewhere; of files. */
void window_seek(struct window *window, uint64_t offset, uint64_t end);

/* The next len bytes, not skipped, in *ret; fewer where the end is near. Borrowed until the next
 * call; of a file as long as the window. */
void window_look(struct window *window, size_t len, struct bytes *ret);
/* False: the end came first. */
bool window_skip(struct window *window, uint64_t len);

/* So much was read where window_look() had shown it before. */
void window_count(struct window *window, size_t len);
/* The file has become shorter since it was opened. */
bool window_is_cut(const struct window *window);

#endif
