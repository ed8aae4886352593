#include "format/tracks.h"

#include "base/alloc.h"

#include <stdlib.h>

const struct profile_cell *tracks_cell(const struct tracks *tracks, uint32_t sample)
{
	uint32_t cell = tracks->by_time ? profile_get_moment(tracks->profile, sample)->cell
					: sample;

	return profile_get_cell(tracks->profile, cell);
}

uint64_t tracks_weight(const struct tracks *tracks, uint32_t sample)
{
	const struct profile_cell *cell = tracks_cell(tracks, sample);

	return tracks->by_time ? cell->weight / cell->samples : cell->weight;
}

static uint32_t track_of(const struct tracks *tracks, uint32_t sample)
{
	const struct profile_cell *cell = tracks_cell(tracks, sample);

	return cell->event * profile_thread_count(tracks->profile) + cell->thread;
}

void tracks_init(struct tracks *tracks, const struct profile *profile, uint64_t most_moments)
{
	uint64_t moments = profile_moment_count(profile);
	uint32_t samples;
	size_t *end;

	*tracks = (struct tracks){
		.profile = profile,
		.by_time = moments && moments <= most_moments,
		.count = profile_event_count(profile) * profile_thread_count(profile),
	};
	samples = (uint32_t)(tracks->by_time ? moments : profile_cell_count(profile));
	tracks->samples = xcalloc(samples, sizeof(*tracks->samples));
	tracks->first = xcalloc((size_t)tracks->count + 2, sizeof(*tracks->first));
	tracks->weights = xcalloc(tracks->count, sizeof(*tracks->weights));
	/* Shifted by one, so that `end` has become first[track + 1] when all are in place. */
	end = tracks->first + 1;
	for (uint32_t i = 0; i < samples; i++) {
		end[track_of(tracks, i) + 1]++;
		tracks->weights[track_of(tracks, i)] += tracks_weight(tracks, i);
	}
	for (uint32_t i = 1; i <= tracks->count; i++)
		end[i] += end[i - 1];
	for (uint32_t i = 0; i < samples; i++)
		tracks->samples[end[track_of(tracks, i)]++] = i;
}

void tracks_deinit(struct tracks *tracks)
{
	free(tracks->samples);
	free(tracks->first);
	free(tracks->weights);
	*tracks = (struct tracks){0};
}
