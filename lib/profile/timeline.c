#include "profile/timeline.h"

#include "base/alloc.h"

#include <stdlib.h>

/*
 * The limit for markers of processes, because a program can fork without end.
 */
enum { MARKERS_MAX = 512 << 10 };

void timeline_deinit(struct timeline *timeline)
{
	free(timeline->samples);
	free(timeline->intervals);
	free(timeline->markers);
}

void timeline_add_sample(struct timeline *timeline, const struct profile_timed_sample *sample)
{
	GROW(timeline->samples, timeline->sample_count, timeline->sample_room);
	timeline->samples[timeline->sample_count++] = *sample;
}

void timeline_add_interval(struct timeline *timeline, const struct profile_interval *interval)
{
	GROW(timeline->intervals, timeline->interval_count, timeline->interval_room);
	timeline->intervals[timeline->interval_count++] = *interval;
}

void timeline_add_marker(struct timeline *timeline, const struct profile_marker *marker)
{
	if (timeline->marker_count >= MARKERS_MAX && marker->kind <= PROFILE_MARKER_EXIT)
		return;
	GROW(timeline->markers, timeline->marker_count, timeline->marker_room);
	timeline->markers[timeline->marker_count++] = *marker;
}

static int timeline_by_time(const void *a, const void *b)
{
	const struct profile_timed_sample *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return (left->sample > right->sample) - (left->sample < right->sample);
}

void timeline_sort_samples(struct timeline *timeline)
{
	if (timeline->sample_count)
		qsort(timeline->samples, timeline->sample_count, sizeof(*timeline->samples),
		      timeline_by_time);
}

void timeline_move_samples(struct timeline *timeline, const uint32_t *moved)
{
	for (uint64_t i = 0; i < timeline->sample_count; i++)
		timeline->samples[i].sample = moved[timeline->samples[i].sample];
	for (uint64_t i = 0; i < timeline->interval_count; i++)
		timeline->intervals[i].sample = moved[timeline->intervals[i].sample];
}

static int by_end(const void *a, const void *b)
{
	const struct profile_interval *left = a, *right = b;

	if (left->end_ns != right->end_ns)
		return left->end_ns < right->end_ns ? -1 : 1;
	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	return (left->sample > right->sample) - (left->sample < right->sample);
}

void timeline_sort_intervals(struct timeline *timeline)
{
	if (timeline->interval_count)
		qsort(timeline->intervals, timeline->interval_count, sizeof(*timeline->intervals),
		      by_end);
}
