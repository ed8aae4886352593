#include "format/tracks.h"

#include "base/alloc.h"

#include <stdlib.h>

const struct profile_cell *tracks_cell(const struct tracks *tracks, size_t at)
{
	size_t ahead = tracks_ahead(tracks, at);

	__builtin_prefetch(profile_get_cell(tracks->profile, tracks->cells[ahead]));
	return profile_get_cell(tracks->profile, tracks->cells[at]);
}

uint64_t tracks_weight(const struct tracks *tracks, size_t at)
{
	const struct profile_cell *cell = tracks_cell(tracks, at);

	return tracks->by_time ? cell->weight / cell->samples : cell->weight;
}

static uint32_t cell_of(const struct tracks *tracks, uint32_t sample)
{
	return tracks->by_time ? profile_get_moment(tracks->profile, sample)->cell : sample;
}

/* By cell. Cells are fewer than moments, which lead to them in no order. */
static uint32_t *tracks_of_cells(const struct profile *profile, const uint32_t *group_of,
				 uint32_t groups)
{
	uint64_t count = profile_cell_count(profile);
	uint32_t *tracks = xcalloc(count, sizeof(*tracks));

	for (uint64_t i = 0; i < count; i++) {
		const struct profile_cell *cell = profile_get_cell(profile, i);

		tracks[i] = cell->event * groups +
			    (group_of ? group_of[cell->thread] : cell->thread);
	}
	return tracks;
}

static void sort_samples(struct tracks *tracks, const uint32_t *track_of)
{
	uint32_t samples = (uint32_t)(tracks->by_time ? profile_moment_count(tracks->profile)
						      : profile_cell_count(tracks->profile));
	size_t *end;

	tracks->cells = xcalloc(samples, sizeof(*tracks->cells));
	if (tracks->by_time)
		tracks->moments = xcalloc(samples, sizeof(*tracks->moments));
	tracks->first = xcalloc((size_t)tracks->count + 2, sizeof(*tracks->first));
	/* Shifted by one, so that `end` has become first[track + 1] when all are in place. */
	end = tracks->first + 1;
	for (uint32_t i = 0; i < samples; i++) {
		if (i + 16 < samples)
			__builtin_prefetch(&track_of[cell_of(tracks, i + 16)]);
		end[track_of[cell_of(tracks, i)] + 1]++;
	}
	for (uint32_t i = 1; i <= tracks->count; i++)
		end[i] += end[i - 1];
	for (uint32_t i = 0; i < samples; i++) {
		uint32_t cell = cell_of(tracks, i);
		size_t at = end[track_of[cell]]++;

		if (i + 16 < samples)
			__builtin_prefetch(&track_of[cell_of(tracks, i + 16)]);
		tracks->cells[at] = cell;
		if (tracks->by_time)
			tracks->moments[at] = i;
	}
}

void tracks_init(struct tracks *tracks, const struct profile *profile, uint64_t most_moments)
{
	uint64_t moments = profile_moment_count(profile);
	uint32_t threads = profile_thread_count(profile);
	CLEANUP(free_ptr) uint32_t *track_of = tracks_of_cells(profile, NULL, threads);

	*tracks = (struct tracks){
		.profile = profile,
		.by_time = moments && moments <= most_moments,
		.count = profile_event_count(profile) * threads,
	};
	sort_samples(tracks, track_of);
}

void tracks_init_groups(struct tracks *tracks, const struct profile *profile,
			const uint32_t *group_of, uint32_t groups)
{
	CLEANUP(free_ptr) uint32_t *track_of = tracks_of_cells(profile, group_of, groups);

	*tracks = (struct tracks){
		.profile = profile,
		.count = profile_event_count(profile) * groups,
	};
	sort_samples(tracks, track_of);
}

void tracks_deinit(struct tracks *tracks)
{
	free(tracks->cells);
	free(tracks->moments);
	free(tracks->first);
	*tracks = (struct tracks){0};
}
