/*
 * The samples of a profile by thread and event, for viewers with a track for each.
 *
 * A sample is a moment, where moments are known, else a cell with all its samples.
 */
#ifndef PROF_FORMAT_TRACKS_H
#define PROF_FORMAT_TRACKS_H

#include "profile/profile.h"

#include <stddef.h>

struct tracks {
	const struct profile *profile;
	bool by_time;
	uint32_t count;	   /* threads times events: a track's number is event * threads + thread */
	uint32_t *cells;   /* of the samples, in the order of their coming … */
	uint32_t *moments; /* … and their moments, where by_time … */
	size_t *first;	   /* … those of track i from here to first[i + 1] */
};

/* Cells too where there are more moments than that. */
void tracks_init(struct tracks *tracks, const struct profile *profile, uint64_t most_moments);
/*
 * A track for each group of threads, and of cells: group_of says by thread which group, of so many,
 * it belongs to. The number of a track is event * groups + group. Cells stand in the order that the
 * profile has them in, in which neighbours share most of their callers.
 */
void tracks_init_groups(struct tracks *tracks, const struct profile *profile,
			const uint32_t *group_of, uint32_t groups);
void tracks_deinit(struct tracks *tracks);

/* A place some samples on, for what is to be fetched from memory by then: samples of a thread lead
 * all over the profile. */
static inline size_t tracks_ahead(const struct tracks *tracks, size_t at)
{
	return at + 16 < tracks->first[tracks->count] ? at + 16 : at;
}

/* Of the sample that stands there in cells. */
const struct profile_cell *tracks_cell(const struct tracks *tracks, size_t at);
/* A moment's is the average of its cell. */
uint64_t tracks_weight(const struct tracks *tracks, size_t at);

#endif
