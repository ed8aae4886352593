/*
 * Callbacks for the progress, notices and problems of lib/record, which prints
 * nothing itself.
 */
#ifndef PROF_RECORD_LISTENER_H
#define PROF_RECORD_LISTENER_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* The unit of a progress count. */
enum progress {
	PROGRESS_READ,	     /* samples of a file */
	PROGRESS_SYMBOLIZED, /* modules, symbol tables and units */
};

/* State of the downloads of debug files. */
struct download_progress {
	const char *name;	     /* file name of one module */
	uint64_t bytes, total_bytes; /* of its file; 0 if unknown */
	size_t others;		     /* further downloads that run or are queued */
};

/* Each callback may be NULL. */
struct listener {
	/* Called at most a few times per second. */
	void (*progress)(void *user, enum progress kind, uint64_t count);
	/* Called instead of progress() while debug files are downloaded. */
	void (*downloading)(void *user, const struct download_progress *progress);
	/* Takes a sentence that helps to interpret the result: what was chosen
	 * or reduced. */
	void (*notice)(void *user, const char *text);
	/* Takes a sentence about what is missing from the result. */
	void (*problem)(void *user, const char *text);
	void *user;
};

/* All functions accept NULL for the listener and do nothing then. */
void listener_progress(const struct listener *listener, enum progress kind, uint64_t count);
__attribute__((format(printf, 2, 3))) void listener_notice(const struct listener *listener,
							   const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void listener_problem(const struct listener *listener,
							    const char *fmt, ...);

#endif
