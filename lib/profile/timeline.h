/*
 * The timeline of a profile: the times of individual samples, the intervals in
 * which threads waited, and markers of other events. It is kept only for
 * outputs that show time. At most 512,000 markers of process starts and ends
 * are kept.
 */
#ifndef PROF_PROFILE_TIMELINE_H
#define PROF_PROFILE_TIMELINE_H

#include "base/strtab.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The time of one sample of an aggregated sample. Its weight is the average. */
struct profile_timed_sample {
	uint64_t time_ns; /* CLOCK_MONOTONIC, or the clock of the file */
	uint32_t sample;  /* index of the aggregated sample */
	uint32_t cpu;
};

/*
 * An interval in which a thread was in the state of an aggregated sample: it
 * waited. Between start and end, the thread was in that state for `weight`
 * nanoseconds. This is the whole interval for a long wait. Short waits are only
 * sampled, so the interval of a sampled one also stands for the waits before
 * it.
 *
 * For the event alloc_space, it is the lifetime of a sampled block, and the
 * weight is in bytes.
 */
struct profile_interval {
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
	/*
	 * For a time: at most end_ns - start_ns, unless it is that of several
	 * threads.
	 */
	uint64_t weight;
	uint32_t sample; /* index of the aggregated sample */
};

enum profile_marker_kind {
	PROFILE_MARKER_FORK, /* text: the name of the new process */
	PROFILE_MARKER_EXEC, /* text: the name of the new program */
	PROFILE_MARKER_EXIT,
	PROFILE_MARKER_LOST,	  /* count: number of lost samples */
	PROFILE_MARKER_THROTTLED, /* the kernel throttled sampling */
};

/* An event of the recording that is not a sample. */
struct profile_marker {
	enum profile_marker_kind kind;
	uint64_t time_ns; /* on the clock of timed samples */
	uint32_t cpu;
	pid_t pid, tid; /* -1 if not of a thread */
	string_id text;
	uint64_t count;
};

/*
 * Timed samples in the order in which they were added: by time, except for a
 * few microseconds between CPUs.
 */
struct profile_timed_samples {
	const struct profile_timed_sample *items;
	uint64_t count;
};
/*
 * Intervals, ordered by their ends after sorting. An event has timed samples or
 * intervals, not both.
 */
struct profile_intervals {
	const struct profile_interval *items;
	uint64_t count;
};
/* Zeroed: empty. */
struct timeline {
	struct profile_timed_sample *samples;
	uint64_t sample_count, sample_room;
	struct profile_interval *intervals;
	uint64_t interval_count, interval_room;
	struct profile_marker *markers;
	uint64_t marker_count, marker_room;
};

void timeline_deinit(struct timeline *timeline);

void timeline_add_sample(struct timeline *timeline, const struct profile_timed_sample *sample);
void timeline_add_interval(struct timeline *timeline, const struct profile_interval *interval);
void timeline_add_marker(struct timeline *timeline, const struct profile_marker *marker);
/* Sorts samples that were not added in time order. */
void timeline_sort_samples(struct timeline *timeline);
/*
 * Changes the indexes of the aggregated samples. moved: the new index for each
 * old index.
 */
void timeline_move_samples(struct timeline *timeline, const uint32_t *moved);
/* Sorts intervals by their ends. */
void timeline_sort_intervals(struct timeline *timeline);

#endif
