/*
 * The timeline of a profile: when single samples were taken, how long threads waited, and what else
 * happened. Kept only for outputs that show time. Of processes that begin and end, 512,000 are
 * kept.
 */
#ifndef PROF_PROFILE_TIMELINE_H
#define PROF_PROFILE_TIMELINE_H

#include "base/strtab.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* When one sample of an aggregated sample was taken. Its weight is the average. */
struct profile_timed_sample {
	uint64_t time_ns; /* CLOCK_MONOTONIC, or the clock of the file */
	uint32_t sample;  /* index of its aggregated sample */
	uint32_t cpu;
};

/*
 * A time that a thread was in the state of an aggregated sample: of waiting. Between its start and
 * its end the thread was so for as long as its weight says. That is all of the time, but short
 * times of waiting are only met now and then: one that was stands for those before it, too.
 *
 * Of the event alloc_space it is the life of a sampled block, and the weight is in bytes.
 */
struct profile_interval {
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
	uint64_t weight; /* of time: at most end_ns - start_ns, unless of several threads */
	uint32_t sample; /* index of its aggregated sample */
};

enum profile_marker_kind {
	PROFILE_MARKER_FORK, /* text: the name of the new process */
	PROFILE_MARKER_EXEC, /* text: the name of the new program */
	PROFILE_MARKER_EXIT,
	PROFILE_MARKER_LOST,	  /* count: number of lost samples */
	PROFILE_MARKER_THROTTLED, /* the kernel paused sampling */
};

/* An event of the recording that is not a sample. */
struct profile_marker {
	enum profile_marker_kind kind;
	uint64_t time_ns; /* on the clock of timed samples */
	uint32_t cpu;
	pid_t pid, tid; /* -1: no thread */
	string_id text;
	uint64_t count;
};

/*
 * In the order in which they were added: by time, except for a few microseconds between CPUs.
 */
struct profile_timed_samples {
	const struct profile_timed_sample *items;
	uint64_t count;
};
/* In the order of their ends, if they were sorted. An event has timed samples or intervals, not
 * both. */
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
/* By time, for those that were not added in order. */
void timeline_sort_samples(struct timeline *timeline);
/* The aggregated samples have other indexes: moved, by former index. */
void timeline_move_samples(struct timeline *timeline, const uint32_t *moved);
/* By their ends. */
void timeline_sort_intervals(struct timeline *timeline);

#endif
