/*
 * Opens foreign files (foreign_file.h) within bounded time (timed_call.h).
 */
#ifndef PROF_BASE_TIMED_OPEN_H
#define PROF_BASE_TIMED_OPEN_H

#include "base/foreign_file.h"
#include "base/timed_call.h"

#include <stddef.h>
#include <time.h>

/*
 * Opens number `skip` (0, 1, …) of those names that can be opened, and says in *which (may be NULL)
 * which it is. Returns a descriptor; -1 if there are fewer, or if the file system does not answer.
 * The calls of one user are one place of timed_call.h.
 */
int timed_open(struct timed_caller *caller, const struct foreign_name *names, size_t count,
	       unsigned skip, size_t *which);

/* What a file holds. */
struct timed_text {
	char *bytes; /* to be freed */
	size_t len;
	struct timespec changed; /* when it was written last */
};

/* Reads a file whole; false if it cannot be opened, is longer than max_bytes, or is not read in
 * time.
 */
bool timed_read(struct timed_caller *caller, const struct foreign_name *name, size_t max_bytes,
		struct timed_text *ret);

#endif
