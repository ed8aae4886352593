/*
 * The samples of a thread in time order if off-CPU time is shown, alone or with
 * CPU time.
 *
 * The viewer draws between samples. Therefore a wait is a sample at its start
 * and a sample of weight 0 at its end, without CPU time, so that the graph of
 * CPU usage is empty between them. A long wait has further samples in between,
 * so that a selected part of it has the corresponding part of the weight. The
 * weights of CPU samples are CPU time, so both kinds add up. If the profile has
 * no times, each stack is one sample at a synthesized time.
 */
#ifndef PROF_FORMAT_FIREFOX_WAITS_H
#define PROF_FORMAT_FIREFOX_WAITS_H

#include "format/tracks.h"

struct firefox_row {
	uint64_t time_ns; /* since the start of the file */
	uint64_t weight_ns;
	uint64_t cpu_ns; /* since the previous row */
	uint32_t sample; /* the aggregated sample that has its stack */
	bool is_empty;	 /* has no stack: between two waits */
};

struct firefox_waits {
	const struct profile *profile;
	const struct tracks *tracks;
	event_id cpu, waiting; /* equal if only off-CPU time is shown */
	uint64_t start_ns, end_ns;
	bool has_times;
	uint64_t piece_ns; /* time between two samples of a wait */
	/* Shorter waits have no marker, because the viewer cannot load more. */
	uint64_t shortest_marker;
	uint32_t *intervals;	  /* sorted by thread */
	uint32_t *first;	  /* thread i's intervals are from first[i] to first[i + 1] */
	struct firefox_row *rows; /* of the last thread */
	size_t count, room;
};

/*
 * Borrows the profile and the tracks. The times are those of the file, on the
 * profile's clock.
 */
void firefox_waits_init(struct firefox_waits *waits, const struct profile *profile,
			const struct tracks *tracks, event_id cpu, event_id waiting,
			uint64_t start_ns, uint64_t end_ns);
void firefox_waits_deinit(struct firefox_waits *waits);

/* Computes the rows of a thread. */
void firefox_waits_collect(struct firefox_waits *waits, thread_id thread);

/*
 * Returns the next interval of a thread that is a marker, from index *at of
 * intervals on, or NULL.
 */
const struct profile_interval *firefox_waits_marker(const struct firefox_waits *waits,
						    thread_id thread, uint32_t *at);

#endif
