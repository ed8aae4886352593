/*
 * The values of a pprof sample: sample types, as events of a profile.
 *
 * If there are several types, a type "samples" is not an event but the number
 * of samples of the main event. Without such a type, each value is both the
 * number of samples and their weight. The main event is the type that pprof
 * shows by default: default_sample_type, or else the last one. It becomes event
 * 0 of an empty profile.
 *
 * Types with negative values come from a difference of two profiles and are
 * omitted. If all types have some, the file is refused.
 */
#ifndef PROF_FORMAT_PPROF_EVENTS_H
#define PROF_FORMAT_PPROF_EVENTS_H

#include "base/error.h"
#include "format/pprof/limits.h"
#include "profile/profile.h"

struct pprof_type {
	string_id name, unit;
};

/* Zeroed, then filled in by the reader up to `are_negative`. */
struct pprof_events {
	struct pprof_type *types; /* in the order of the values */
	size_t count, room;
	string_id default_type; /* "" if the file has none */
	struct pprof_type period_type;
	uint64_t period;
	bool are_negative[PPROF_TYPES_MAX]; /* by type: it is omitted */
	uint64_t *sums;			    /* of values, by type */
	size_t samples; /* the type that counts samples; equal to `count` if there is none */
	event_id *ids;	/* by type, except `samples` */
	event_id main;	/* whose samples are counted */
};

void pprof_events_deinit(struct pprof_events *events);

/* Adds the events to the profile. */
MUST_CHECK struct error *pprof_events_define(struct pprof_events *events, struct profile *profile);
/*
 * Adds the values of a sample, one per type. Fails if the sum of a type exceeds
 * INT64_MAX.
 */
MUST_CHECK struct error *pprof_events_add(struct pprof_events *events, struct profile *profile,
					  label_set_id labels, stack_id stack,
					  const uint64_t *values, size_t count);

#endif
