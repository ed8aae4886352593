/*
 * Reads new data from a file that a process is writing, possibly on a file
 * system that does not answer. It is read with pread(2) into private memory, on
 * a helper thread (base/timed_call.h).
 */
#ifndef PROF_PROC_TAIL_H
#define PROF_PROC_TAIL_H

#include "base/timed_call.h"

#include <stddef.h>
#include <time.h>

enum { TAIL_BYTES = 256 << 10 };

/* The bytes from offset `from` on, at most TAIL_BYTES. */
struct tail {
	struct timed_call call;
	int fd;
	uint64_t from;
	unsigned char *bytes; /* NULL if there is no new data */
	size_t len;
	/* Last modification of the file; valid only if there are bytes. */
	struct timespec changed;
};

/*
 * Returns NULL if the file system does not answer. `place` is as in struct
 * timed_call.
 */
struct tail *tail_read(struct timed_caller *caller, uint64_t place, int fd, uint64_t from);
void tail_free(struct tail *tail);
DEFINE_CLEANUP(tail, tail_free)

#endif
