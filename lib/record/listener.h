/*
 * Callbacks for the progress, notices and problems of lib/record, which prints nothing itself.
 */
#ifndef PROF_RECORD_LISTENER_H
#define PROF_RECORD_LISTENER_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* What is counted as progress. */
enum progress {
	PROGRESS_READ,	     /* samples of a file */
	PROGRESS_SYMBOLIZED, /* modules, symbol tables and units */
};

/* Downloads of debug files. */
struct download_progress {
	const char *name;	     /* of one module */
	uint64_t bytes, total_bytes; /* of its file; 0: unknown */
	size_t others;		     /* that are downloaded beside it or after it */
};

/* Each callback may be NULL. */
struct listener {
	/* Called some times per second at most. */
	void (*progress)(void *user, enum progress kind, uint64_t count);
	/* The same, in place of it while debug files are downloaded. */
	void (*downloading)(void *user, const struct download_progress *progress);
	/* A sentence that helps to understand the result: what was chosen or reduced. */
	void (*notice)(void *user, const char *text);
	/* A sentence about what is missing from the result. */
	void (*problem)(void *user, const char *text);
	void *user;
};

/* listener may be NULL. */
void listener_progress(const struct listener *listener, enum progress kind, uint64_t count);
__attribute__((format(printf, 2, 3))) void listener_notice(const struct listener *listener,
							   const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void listener_problem(const struct listener *listener,
							    const char *fmt, ...);

#endif
