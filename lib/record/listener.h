/*
 * Callbacks for the progress, notices and problems of lib/record, which prints nothing itself.
 */
#ifndef PROF_RECORD_LISTENER_H
#define PROF_RECORD_LISTENER_H

#include "base/error.h"

#include <stdint.h>

/* What is counted as progress. */
enum progress {
	PROGRESS_READ,	     /* samples of a file */
	PROGRESS_SYMBOLIZED, /* modules and units */
};

/* Each callback may be NULL. */
struct listener {
	/* Called some times per second at most. */
	void (*progress)(void *user, enum progress kind, uint64_t count);
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
