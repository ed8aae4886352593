/*
 * The samples of a thread where waiting is shown, beside CPU time or alone, in time order.
 *
 * The viewer draws between samples. So a wait is a sample at its start and one of weight 0 at its
 * end, without CPU time: between them the graph of CPU usage is empty. A long wait has further
 * samples in between, so that a part of it that is selected has its part of the weight. The weights
 * of CPU samples are CPU time, so that both add up.
 * If the profile has no times, each stack is one sample, at a time that is synthesized.
 */
#ifndef PROF_FORMAT_FIREFOX_WAITS_H
#define PROF_FORMAT_FIREFOX_WAITS_H

#include "format/tracks.h"

struct firefox_row {
	uint64_t time_ns; /* since the start of the file */
	uint64_t weight_ns;
	uint64_t cpu_ns; /* since the row before */
	uint32_t sample; /* the aggregated sample whose stack it has */
	bool is_empty;	 /* without a stack: between two waits */
};

struct firefox_waits {
	const struct profile *profile;
	const struct tracks *tracks;
	event_id cpu, waiting; /* the same: waiting alone */
	uint64_t start_ns, end_ns;
	bool has_times;
	uint64_t piece_ns;	  /* between two samples of a wait */
	uint64_t shortest_marker; /* shorter waits are not markers: the viewer cannot load more */
	uint32_t *intervals;	  /* sorted by thread … */
	uint32_t *first;	  /* … thread i's from first[i] to first[i + 1] */
	struct firefox_row *rows; /* of the last thread */
	size_t count, room;
};

/* Borrows the profile and the tracks. The times are those of the file, on the profile's clock. */
void firefox_waits_init(struct firefox_waits *waits, const struct profile *profile,
			const struct tracks *tracks, event_id cpu, event_id waiting,
			uint64_t start_ns, uint64_t end_ns);
void firefox_waits_deinit(struct firefox_waits *waits);

/* Makes the rows of a thread. */
void firefox_waits_collect(struct firefox_waits *waits, thread_id thread);

/* The next interval of a thread that is a marker, from index *at of intervals on; NULL: none. */
const struct profile_interval *firefox_waits_marker(const struct firefox_waits *waits,
						    thread_id thread, uint32_t *at);

#endif
