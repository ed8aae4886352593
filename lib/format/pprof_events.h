/*
 * What the values of a pprof sample are: sample types, as events of a profile.
 *
 * Where there are several, a type "samples" is no event: it counts the samples of event 0. Without
 * one each value stands for the samples as well as for their weight. Event 0 is the type that pprof
 * shows without being told which: the default one, or else the last.
 */
#ifndef PROF_FORMAT_PPROF_EVENTS_H
#define PROF_FORMAT_PPROF_EVENTS_H

#include "base/error.h"
#include "profile/profile.h"

struct pprof_type {
	string_id name, unit;
};

/* Zeroed, then filled in by the reader up to `period`. */
struct pprof_events {
	struct pprof_type *types; /* in the order of the values */
	size_t count, room;
	string_id default_type; /* "": none */
	struct pprof_type period_type;
	uint64_t period;
	size_t samples; /* the type that counts samples; `count`: there is none */
	event_id *ids;	/* by type, but for that one */
};

void pprof_events_deinit(struct pprof_events *events);

/* Adds the events to the profile. */
MUST_CHECK struct error *pprof_events_define(struct pprof_events *events, struct profile *profile);
/* Adds the values of a sample, one a type. */
MUST_CHECK struct error *pprof_events_add(const struct pprof_events *events,
					  struct profile *profile, thread_id thread, stack_id stack,
					  const uint64_t *values, size_t count);

#endif
