#include "format/tracks.h"

#include "base/affinity.h"
#include "base/alloc.h"
#include "base/team.h"
#include "profile/memory_events.h"

#include <inttypes.h>
#include <stdlib.h>

/* A small file can contain many threads and events. */
#define MOST_TRACKS (UINT32_C(1) << 26)

uint64_t tracks_weight(const struct tracks *tracks, size_t at)
{
	const struct profile_sample *sample = tracks_sample(tracks, at);
	const struct profile_interval *interval = tracks_interval(tracks, at);

	if (interval)
		return interval->weight;
	return tracks->by_time ? sample->weight / sample->samples : sample->weight;
}

/*
 * Returns the track of each aggregated sample. There are fewer of these than of
 * timed samples, which refer to them in random order.
 */
static uint32_t *tracks_of_samples(const struct profile *profile, const thread_id *thread_of,
				   uint32_t threads)
{
	const struct profile_samples samples = profile_samples(profile);
	uint64_t count = samples.count;
	uint32_t *tracks = xcalloc(count, sizeof(*tracks));

	for (uint64_t i = 0; i < count; i++) {
		const struct profile_sample *sample = &samples.items[i];

		tracks[i] = sample->event * threads + thread_of[sample->labels];
	}
	return tracks;
}

/*
 * Returns the thread of each label set. Label sets of one thread share a track.
 */
static thread_id *threads_of_label_sets(const struct profile *profile)
{
	uint32_t count = profile_label_set_count(profile);
	thread_id *threads = xcalloc(count, sizeof(*threads));

	for (label_set_id i = 0; i < count; i++)
		threads[i] = profile_get_label_set(profile, i)->thread;
	return threads;
}

/*
 * A counting sort whose items are divided into shares. A thread per share
 * counts its items, and then places them after those of the preceding shares.
 * By time, items are timed samples and, after them, intervals; otherwise
 * aggregated samples.
 */
struct sorting {
	struct tracks *tracks;
	struct profile_timed_samples timed_samples;
	struct profile_intervals intervals;
	const uint32_t *track_of; /* by aggregated sample */
	uint32_t count;
	unsigned shares;
	uint32_t *next; /* of all shares except the last: see next_of() */
};

/*
 * Returns whether the interval is the lifetime of a block of memory, which is
 * not part of a thread's time.
 */
static bool is_block(const struct profile *profile, const struct profile_interval *interval)
{
	enum memory_event which;

	return memory_event_of(profile, profile_samples(profile).items[interval->sample].event,
			       &which);
}

static uint32_t tracks_sample_of(const struct sorting *sorting, uint32_t item)
{
	if (!sorting->tracks->by_time)
		return item;
	if (item < sorting->timed_samples.count)
		return sorting->timed_samples.items[item].sample;
	return sorting->intervals.items[item - sorting->timed_samples.count].sample;
}

static uint32_t track_of_item(const struct sorting *sorting, uint32_t item)
{
	const struct tracks *tracks = sorting->tracks;

	if (tracks->by_time && item >= sorting->timed_samples.count &&
	    is_block(tracks->profile,
		     &sorting->intervals.items[item - sorting->timed_samples.count]))
		return tracks->count;
	if (item + 16 < sorting->count)
		__builtin_prefetch(&sorting->track_of[tracks_sample_of(sorting, item + 16)]);
	return sorting->track_of[tracks_sample_of(sorting, item)];
}

static uint64_t timed_count(const struct profile *profile)
{
	return profile_timed_samples(profile).count + profile_intervals(profile).count;
}

/* Two shares have no cache line in common. */
static size_t next_len(const struct sorting *sorting)
{
	return sorting->tracks->count + 1 + 128 / sizeof(*sorting->next);
}

/*
 * Returns by track the number of the share's items, and later where the next
 * one is placed. When all items of the last share have been placed, that is the
 * start of the next track.
 */
static uint32_t *next_of(const struct sorting *sorting, size_t share)
{
	return share + 1 == sorting->shares ? sorting->tracks->first + 1
					    : sorting->next + share * next_len(sorting);
}

static uint32_t share_begin(const struct sorting *sorting, size_t share)
{
	return (uint32_t)(sorting->count * (uint64_t)share / sorting->shares);
}

static void count_share(void *context, size_t share, unsigned member)
{
	const struct sorting *sorting = context;
	uint32_t *next = next_of(sorting, share), end = share_begin(sorting, share + 1);

	(void)member;
	for (uint32_t i = share_begin(sorting, share); i < end; i++)
		next[track_of_item(sorting, i)]++;
}

static void tracks_add_up(const struct sorting *sorting)
{
	uint32_t begin = 0;

	for (uint32_t track = 0; track <= sorting->tracks->count; track++)
		for (size_t share = 0; share < sorting->shares; share++) {
			uint32_t *next = &next_of(sorting, share)[track], count = *next;

			*next = begin;
			begin += count;
		}
}

static void place_share(void *context, size_t share, unsigned member)
{
	const struct sorting *sorting = context;
	const struct tracks *tracks = sorting->tracks;
	uint32_t *next = next_of(sorting, share), end = share_begin(sorting, share + 1);

	(void)member;
	for (uint32_t i = share_begin(sorting, share); i < end; i++) {
		uint32_t at = next[track_of_item(sorting, i)]++;

		tracks->samples[at] = tracks_sample_of(sorting, i);
		if (tracks->by_time)
			tracks->timed_samples[at] = i;
	}
}

/*
 * Few items are sorted before a thread would have started, and each share adds
 * a pass over all tracks.
 */
static unsigned share_count(uint32_t items, uint32_t tracks)
{
	enum { ITEMS_MIN = 1 << 18, SHARES_MAX = 4 };
	unsigned shares;

	if (items < ITEMS_MIN || tracks > items / 16)
		return 1;
	shares = affinity_cpu_count();
	return shares < SHARES_MAX ? shares : SHARES_MAX;
}

static void tracks_sort_samples(struct tracks *tracks, const uint32_t *track_of)
{
	uint32_t count = (uint32_t)(tracks->by_time ? timed_count(tracks->profile)
						    : tracks->all.count);
	struct sorting sorting = {
		.tracks = tracks,
		.timed_samples = profile_timed_samples(tracks->profile),
		.intervals = profile_intervals(tracks->profile),
		.track_of = track_of,
		.count = count,
		.shares = share_count(count, tracks->count),
	};
	CLEANUP(team_cleanup) struct team *team = team_new(sorting.shares);

	tracks->first = xcalloc((size_t)tracks->count + 2, sizeof(*tracks->first));
	tracks->samples = xcalloc(count, sizeof(*tracks->samples));
	if (tracks->by_time)
		tracks->timed_samples = xcalloc(count, sizeof(*tracks->timed_samples));
	sorting.next = xcalloc((sorting.shares - 1) * next_len(&sorting), sizeof(*sorting.next));
	team_begin(team, sorting.shares, count_share, &sorting);
	team_finish(team);
	tracks_add_up(&sorting);
	team_begin(team, sorting.shares, place_share, &sorting);
	team_finish(team);
	free(sorting.next);
}

const struct profile_interval *tracks_interval(const struct tracks *tracks, size_t at)
{
	uint64_t timed_samples = profile_timed_samples(tracks->profile).count;

	if (!tracks->by_time || tracks->timed_samples[at] < timed_samples)
		return NULL;
	return &profile_intervals(tracks->profile).items[tracks->timed_samples[at] - timed_samples];
}

struct error *tracks_init(struct tracks *tracks, const struct profile *profile, event_id event,
			  uint64_t most_timed_samples)
{
	enum memory_event memory;
	uint64_t timed_samples = timed_count(profile);
	uint32_t threads = profile_thread_count(profile), events = profile_event_count(profile);
	CLEANUP(free_ptr) thread_id *thread_of = NULL;
	CLEANUP(free_ptr) uint32_t *track_of = NULL;

	*tracks = (struct tracks){0};
	if ((uint64_t)threads * events > MOST_TRACKS)
		return error_hint(error_new("%" PRIu32 " threads with %" PRIu32
					    " events are too many for this format",
					    threads, events),
				  "write folded stacks instead: -o FILE.folded");
	thread_of = threads_of_label_sets(profile);
	track_of = tracks_of_samples(profile, thread_of, threads);
	*tracks = (struct tracks){
		.profile = profile,
		.all = profile_samples(profile),
		.by_time = timed_samples && timed_samples <= most_timed_samples &&
			   !memory_event_of(profile, event, &memory),
		.count = events * threads,
	};
	tracks_sort_samples(tracks, track_of);
	return NULL;
}

/* Returns the track of each aggregated sample. */
static uint32_t *tracks_of_groups(const struct profile *profile, event_id event, event_id with,
				  const uint32_t *group_of, uint32_t groups)
{
	const struct profile_samples samples = profile_samples(profile);
	uint32_t *tracks = xcalloc(samples.count, sizeof(*tracks));

	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];

		bool is_in = sample->event == event || sample->event == with;

		tracks[i] = group_of[sample->labels] + (is_in ? 0 : groups);
	}
	return tracks;
}

void tracks_init_groups(struct tracks *tracks, const struct profile *profile, event_id event,
			event_id with, const uint32_t *group_of, uint32_t groups)
{
	CLEANUP(free_ptr)
	uint32_t *track_of = tracks_of_groups(profile, event, with, group_of, groups);

	*tracks = (struct tracks){
		.profile = profile,
		.all = profile_samples(profile),
		.count = 2 * groups,
	};
	tracks_sort_samples(tracks, track_of);
}

void tracks_deinit(struct tracks *tracks)
{
	free(tracks->samples);
	free(tracks->timed_samples);
	free(tracks->first);
	*tracks = (struct tracks){0};
}
