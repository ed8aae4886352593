#include "format/firefox/waits.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/counting_sort.h"

#include <stdlib.h>

enum { MOST_PIECES = 500000, MOST_MARKERS = 100000 };

#define SHORTEST_PIECE_NS (NS_PER_SECOND / 100)

struct owners {
	const struct profile *profile;
	struct profile_intervals intervals;
	event_id waiting;
};

static uint32_t thread_of_interval(const void *context, uint32_t index)
{
	const struct owners *owners = context;
	uint32_t id = owners->intervals.items[index].sample;
	const struct profile_sample *sample = &profile_samples(owners->profile).items[id];

	/* Lifetimes of memory blocks are intervals, too. */
	if (sample->event != owners->waiting)
		return profile_thread_count(owners->profile);
	return profile_get_label_set(owners->profile, sample->labels)->thread;
}

static uint64_t length_of(const struct profile_interval *interval)
{
	return interval->end_ns > interval->start_ns ? interval->end_ns - interval->start_ns : 0;
}

/* Long waits are split into pieces, whose number is limited. */
static uint64_t choose_piece(struct profile_intervals intervals)
{
	uint64_t piece_ns, sum_ns = 0;

	for (uint64_t i = 0; i < intervals.count; i++)
		sum_ns += length_of(&intervals.items[i]);
	piece_ns = sum_ns / MOST_PIECES;
	return piece_ns > SHORTEST_PIECE_NS ? piece_ns : SHORTEST_PIECE_NS;
}

static uint64_t count_from(struct profile_intervals intervals, uint64_t least_ns)
{
	uint64_t count = 0;

	for (uint64_t i = 0; i < intervals.count; i++)
		count += length_of(&intervals.items[i]) >= least_ns;
	return count;
}

static uint64_t choose_marker(struct profile_intervals intervals)
{
	uint64_t least_ns = 1;

	while (count_from(intervals, least_ns) > MOST_MARKERS)
		least_ns *= 2;
	return least_ns;
}

void firefox_waits_init(struct firefox_waits *waits, const struct profile *profile,
			const struct tracks *tracks, event_id cpu, event_id waiting,
			uint64_t start_ns, uint64_t end_ns)
{
	const struct owners owners = {profile, profile_intervals(profile), waiting};

	*waits = (struct firefox_waits){
		.profile = profile,
		.tracks = tracks,
		.cpu = cpu,
		.waiting = waiting,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.has_times = tracks->by_time,
		.piece_ns = choose_piece(owners.intervals),
		.shortest_marker = choose_marker(owners.intervals),
	};
	waits->intervals = counting_sort((uint32_t)owners.intervals.count,
					 profile_thread_count(profile) + 1, thread_of_interval,
					 &owners, &waits->first);
}

void firefox_waits_deinit(struct firefox_waits *waits)
{
	free(waits->intervals);
	free(waits->first);
	free(waits->rows);
	*waits = (struct firefox_waits){0};
}

static void firefox_waits_add_row(struct firefox_waits *waits, struct firefox_row row)
{
	GROW(waits->rows, waits->count, waits->room);
	waits->rows[waits->count++] = row;
}

/* Returns the i-th of n parts. All parts add up to the whole. */
static uint64_t part(uint64_t whole, uint64_t i, uint64_t n)
{
	return whole / n * i + whole % n * i / n;
}

static void firefox_waits_add_wait(struct firefox_waits *waits,
				   const struct profile_interval *interval)
{
	uint64_t length_ns = length_of(interval), start_ns = interval->start_ns - waits->start_ns;
	uint64_t pieces = length_ns / waits->piece_ns + 1;

	for (uint64_t i = 0; i < pieces; i++)
		firefox_waits_add_row(waits,
				      (struct firefox_row){
					      .time_ns = start_ns + part(length_ns, i, pieces),
					      .weight_ns = part(interval->weight, i + 1, pieces) -
							   part(interval->weight, i, pieces),
					      .sample = interval->sample,
				      });
	firefox_waits_add_row(waits, (struct firefox_row){
					     .time_ns = start_ns + length_ns,
					     .sample = interval->sample,
					     .is_empty = waits->cpu == waits->waiting,
				     });
}

static void firefox_waits_add_track(struct firefox_waits *waits, event_id event, thread_id thread)
{
	const struct tracks *tracks = waits->tracks;
	uint32_t track = event * profile_thread_count(waits->profile) + thread;
	const struct profile_timed_sample *timed = profile_timed_samples(waits->profile).items;

	for (size_t i = tracks->first[track]; i < tracks->first[track + 1]; i++) {
		uint64_t weight = tracks_weight(tracks, i);

		firefox_waits_add_row(
			waits,
			(struct firefox_row){
				.time_ns = tracks->by_time
						   ? timed[tracks->timed_samples[i]].time_ns -
							     waits->start_ns
						   : 0,
				.weight_ns = weight,
				.cpu_ns = event == waits->waiting ? 0 : weight,
				.sample = tracks->samples[i],
			});
	}
}

static int firefox_waits_by_time(const void *a, const void *b)
{
	const struct firefox_row *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return (left->sample > right->sample) - (left->sample < right->sample);
}

/*
 * A thread cannot have used more CPU time than has passed since the previous
 * row.
 */
static void order_rows(struct firefox_waits *waits)
{
	if (!waits->count)
		return;
	qsort(waits->rows, waits->count, sizeof(*waits->rows), firefox_waits_by_time);
	for (size_t i = 1; i < waits->count; i++) {
		uint64_t passed_ns = waits->rows[i].time_ns - waits->rows[i - 1].time_ns;

		if (waits->rows[i].cpu_ns > passed_ns)
			waits->rows[i].cpu_ns = passed_ns;
	}
}

static void spread_rows(struct firefox_waits *waits)
{
	for (size_t i = 0; i < waits->count; i++)
		waits->rows[i].time_ns = part(waits->end_ns - waits->start_ns, i, waits->count);
}

void firefox_waits_collect(struct firefox_waits *waits, thread_id thread)
{
	const struct profile_intervals intervals = profile_intervals(waits->profile);

	waits->count = 0;
	if (waits->cpu != waits->waiting)
		firefox_waits_add_track(waits, waits->cpu, thread);
	if (!waits->has_times)
		firefox_waits_add_track(waits, waits->waiting, thread);
	for (uint32_t i = waits->first[thread]; i < waits->first[thread + 1]; i++)
		firefox_waits_add_wait(waits, &intervals.items[waits->intervals[i]]);
	if (waits->has_times)
		order_rows(waits);
	else
		spread_rows(waits);
}

const struct profile_interval *firefox_waits_marker(const struct firefox_waits *waits,
						    thread_id thread, uint32_t *at)
{
	const struct profile_intervals intervals = profile_intervals(waits->profile);

	if (*at < waits->first[thread])
		*at = waits->first[thread];
	while (*at < waits->first[thread + 1]) {
		const struct profile_interval *interval =
			&intervals.items[waits->intervals[(*at)++]];

		if (length_of(interval) >= waits->shortest_marker)
			return interval;
	}
	return NULL;
}
