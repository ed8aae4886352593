/*
 * The samples of a profile by thread and event, for viewers that show one track
 * for each.
 *
 * "Sample" here means a timed sample or an interval if the profile has any,
 * else an aggregated sample (struct profile_sample).
 */
#ifndef PROF_FORMAT_TRACKS_H
#define PROF_FORMAT_TRACKS_H

#include "base/error.h"
#include "profile/profile.h"

#include <stddef.h>

struct tracks {
	const struct profile *profile;
	struct profile_samples all; /* of the profile */
	bool by_time;
	uint32_t count;	   /* number of tracks */
	uint32_t *samples; /* aggregated samples by track, in the profile's order */
	/*
	 * If by_time: the timed samples, parallel to samples; numbers from the
	 * count of timed samples on are intervals.
	 */
	uint32_t *timed_samples;
	uint32_t *first; /* track i is samples[first[i]] to samples[first[i + 1]] */
};

/*
 * Makes one track for each thread and event. A track's number is event *
 * threads + thread. Tracks contain aggregated samples if the profile has more
 * than most_timed_samples (including intervals), or if the event, which is
 * shown first, is of memory: blocks of memory have no place in a thread's time.
 * Fails if there are too many threads and events; *tracks is zeroed then.
 */
MUST_CHECK struct error *tracks_init(struct tracks *tracks, const struct profile *profile,
				     event_id event, uint64_t most_timed_samples);
/*
 * Makes tracks of aggregated samples for one event and an additional one (which
 * may be the same): one for each group of label sets. group_of contains the
 * group (below groups) of each label set. The track of a group has the group's
 * number. The samples of all other events are in the tracks groups + group.
 * Samples keep the profile's order, in which adjacent samples share most of
 * their callers.
 */
void tracks_init_groups(struct tracks *tracks, const struct profile *profile, event_id event,
			event_id with, const uint32_t *group_of, uint32_t groups);
void tracks_deinit(struct tracks *tracks);

/*
 * Returns an index some samples ahead, to prefetch, because consecutive samples
 * of a thread are scattered over the profile.
 */
static inline size_t tracks_ahead(const struct tracks *tracks, size_t at)
{
	return at + 16 < tracks->first[tracks->count] ? at + 16 : at;
}

/* Returns the aggregated sample at an index. */
static inline const struct profile_sample *tracks_sample(const struct tracks *tracks, size_t at)
{
	const struct profile_sample *all = tracks->all.items;

	__builtin_prefetch(&all[tracks->samples[tracks_ahead(tracks, at)]]);
	return &all[tracks->samples[at]];
}

/* Returns the interval at an index, or NULL if it is a sample. */
const struct profile_interval *tracks_interval(const struct tracks *tracks, size_t at);

/*
 * Returns the weight at an index. A timed sample has the average weight of its
 * aggregated sample.
 */
uint64_t tracks_weight(const struct tracks *tracks, size_t at);

#endif
