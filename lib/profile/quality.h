/*
 * The quality of a recording: how many samples were lost, cut off, completed or left without names,
 * of all events and of each. Zeroed, it is unknown.
 *
 * As text it is one line per subject, which pprof files hold as comments:
 *	prof: samples=12345 lost=12 truncated=3 unnamed=0 completed=100
 *	prof: samples=345 truncated=0 unnamed=0 sampled=345 counted=345 event=page-faults
 *	prof: waiting threads=12 thread_ns=12000000000 running_ns=3100000000 wanted_ns=400000000
 *	      waiting_ns=8500000000 proved_ns=8400000000 …	(one line)
 * Keys follow in any order and may be missing; `event` is the last one, and its value goes to the
 * end of the line. The word `waiting` comes first, so that readers that do not know it take the
 * line for a remark.
 */
#ifndef PROF_PROFILE_QUALITY_H
#define PROF_PROFILE_QUALITY_H

#include "profile/stat_counts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_quality {
	const char *event; /* its name */
	uint64_t samples;
	uint64_t lost; /* of allocations; those of other events are not known by event */
	uint64_t truncated;
	uint64_t unnamed;
	uint64_t sampled; /* the weight of the samples … */
	uint64_t counted; /* … and what the kernel counted meanwhile; 0: unknown, both */
};

/* Where the time of the threads went, and how surely it is known where they waited. Their lives are
 * running_ns + wanted_ns + waiting_ns. */
struct waiting_quality {
	uint64_t threads;    /* that lived during the recording; 0: waiting was not recorded */
	uint64_t thread_ns;  /* their lives within it */
	uint64_t running_ns; /* on a CPU */
	uint64_t wanted_ns;  /* without one, though they could have run */
	uint64_t waiting_ns; /* the rest, of which … */
	uint64_t proved_ns;  /* … a stack was read meanwhile, */
	uint64_t spread_ns; /* … the same thread's waits before or after had one, too short to meet
			       all, */
	uint64_t sampled_ns;   /* … the kernel wrote the stack at the switch, */
	uint64_t placeless_ns; /* … there is no stack */
	uint64_t left_out_ns;  /* waits shorter than asked for, not in the profile */
	uint64_t lost;	       /* records of context switches that the kernel could not write */
};

struct profile_quality {
	bool is_known;
	uint64_t samples;
	uint64_t lost;	       /* the kernel could not write them */
	uint64_t lost_changes; /* nor these: of mappings, names and lives of processes */
	uint64_t truncated;    /* stacks that end in [truncated] */
	uint64_t unnamed;      /* samples in functions without a symbol: their innermost frame */
	uint64_t completed;    /* stacks larger than their copy, complete nevertheless */
	uint64_t spliced;      /* stacks that frame pointers continue where CFI ends */
	uint64_t compat;       /* samples of 32-bit processes */
	uint64_t shortened;    /* stacks whose middle was left out: there were too many */
	uint64_t idle;	       /* omitted samples of idle CPUs; not in samples */
	uint64_t throttled;    /* times the kernel paused sampling */
	uint64_t own_cpu_ns;   /* CPU time that prof took to sample; 0: unknown */
	const struct event_quality *events; /* of recordings with several, or one that is counted */
	size_t event_count;
	struct waiting_quality waiting;
	struct stat_counts stat; /* counted beside the samples */
};

/* Adds what another recording of the same kind counts: all but events and waiting. What is known of
 * one alone is not known of both. */
void quality_add(struct profile_quality *quality, const struct profile_quality *more);

/* Adds what another recording counts of the same event. */
void event_quality_add(struct event_quality *quality, const struct event_quality *more);

/* The weight that no sample shows, of what was counted; 0 if that is unknown. */
uint64_t quality_unsampled(const struct event_quality *event);

/* Its quality; NULL: unknown. */
const struct event_quality *quality_of_event(const struct profile_quality *quality,
					     const char *event);

/* One line of text, without the line end, to be freed. */
char *quality_encode(const struct profile_quality *quality);
char *quality_encode_event(const struct event_quality *quality);
/* "" if waiting was not recorded. */
char *quality_encode_waiting(const struct waiting_quality *waiting);

/* False, and *ret unchanged: the text is something else. Unknown keys are ignored. */
bool quality_decode(const char *text, struct profile_quality *ret);
/* ret->event is borrowed from the text. */
bool quality_decode_event(const char *text, struct event_quality *ret);
/* False also for a line without threads. */
bool quality_decode_waiting(const char *text, struct waiting_quality *ret);

#endif
