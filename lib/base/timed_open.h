/*
 * Opens untrusted files (untrusted_file.h) within bounded time (timed_call.h).
 */
#ifndef PROF_BASE_TIMED_OPEN_H
#define PROF_BASE_TIMED_OPEN_H

#include "base/timed_call.h"
#include "base/untrusted_file.h"

#include <stddef.h>
#include <time.h>

/*
 * Opens number `skip` (0, 1, …) of those names that can be opened, and stores
 * its index in *which (may be NULL). Returns a descriptor, or -1 if there are
 * fewer or if the file system does not respond. The calls of one user are one
 * place of timed_call.h.
 */
int timed_open(struct timed_caller *caller, const struct untrusted_name *names, size_t count,
	       unsigned skip, size_t *which);

/* The content of a file. */
struct timed_text {
	char *bytes; /* the caller frees it */
	size_t len;
	struct timespec changed; /* time of the last modification */
};

/*
 * Reads a whole file. Returns false if it cannot be opened, is longer than
 * max_bytes, or is not read in time.
 */
bool timed_read(struct timed_caller *caller, const struct untrusted_name *name, size_t max_bytes,
		struct timed_text *ret);

#endif
