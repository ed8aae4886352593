/*
 * Ranges of time of the threads that become markers: where the critical path
 * was, and where no thread ran until this one did.
 *
 * Ranges of one thread that follow each other without a gap are one span. If
 * there are too many, short ones are omitted.
 */
#ifndef PROF_FORMAT_FIREFOX_SPANS_H
#define PROF_FORMAT_FIREFOX_SPANS_H

#include "profile/profile.h"

struct firefox_span {
	thread_id thread;
	uint64_t start_ns, end_ns;
};

struct firefox_spans {
	struct firefox_span *items; /* by thread and time */
	uint32_t count, room;
	uint32_t *first; /* thread i's spans are from first[i] to first[i + 1] */
};

/* Where the critical path was. Both are empty without their event. */
void firefox_spans_init_critical(struct firefox_spans *spans, const struct profile *profile);
/* Where no thread ran, according to elapsed time. */
void firefox_spans_init_silent(struct firefox_spans *spans, const struct profile *profile);
void firefox_spans_deinit(struct firefox_spans *spans);

#endif
