/*
 * Leads the samples of all descriptors into other rings, beside the reader: the kernel lets each
 * descriptor wait until every CPU knows that it has left its ring (ring_buffer_attach() in
 * kernel/events/core.c), some milliseconds, and hundreds of descriptors take seconds, in which the
 * rings must be read. Each sample is in the one ring or in the other; none is lost.
 */
#ifndef PROF_PERF_REDIRECTION_H
#define PROF_PERF_REDIRECTION_H

#include "perf/descriptors.h"

#include <pthread.h>
#include <stdatomic.h>

struct redirection {
	const struct descriptors *descriptors; /* borrowed */
	const struct ring *rings;	       /* where to */
	pthread_t thread;
	bool is_under_way;
	atomic_bool is_given_up;
};

/* Into these rings, one a CPU, on a zeroed redirection or an ended one. What is under way is given
 * up first, wherever it is. */
void redirection_begin(struct redirection *redirection, const struct descriptors *descriptors,
		       const struct ring *rings);
/* Until what is under way is done. */
void redirection_await(struct redirection *redirection);
/* Gives up what is under way. A zeroed one has nothing to end. */
void redirection_end(struct redirection *redirection);

#endif
