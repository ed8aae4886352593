/*
 * Reads on in a file that a process writes, which may be on a file system that does not answer:
 * with pread(2) into private memory, on a helper thread (base/timed_call.h).
 */
#ifndef PROF_PROC_TAIL_H
#define PROF_PROC_TAIL_H

#include "base/timed_call.h"

#include <stddef.h>
#include <time.h>

enum { TAIL_BYTES = 256 << 10 };

/* The bytes from `from` on; at most TAIL_BYTES. */
struct tail {
	struct timed_call call;
	int fd;
	uint64_t from;
	unsigned char *bytes; /* NULL: there are none (yet) */
	size_t len;
	struct timespec changed; /* when the file was written last; only if there are some */
};

/* NULL if the file system does not answer. place: as in struct timed_call. */
struct tail *tail_read(struct timed_caller *caller, uint64_t place, int fd, uint64_t from);
void tail_free(struct tail *tail);
DEFINE_CLEANUP(tail, tail_free)

#endif
