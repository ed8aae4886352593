/*
 * Manages the rings of one recording. Each CPU has
 *
 *  - a small ring for the side band;
 *  - a ring for context switches, if they are recorded;
 *  - a ring for samples, if there are any;
 *  - with deep-stack capture, a second ring for samples, each of which wakes
 *    the CPU's copier.
 *
 * The rings are ordered by kind. A batch reads the heads of the sample rings
 * before those of the side band. If times are equal, the side band comes first
 * (ring_merge.h).
 */
#ifndef PROF_PERF_RING_SET_H
#define PROF_PERF_RING_SET_H

#include "base/error.h"
#include "perf/ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ring_kind {
	RINGS_SIDE_BAND,
	RINGS_SWITCHES,
	RINGS_SAMPLES,
	RINGS_CAPTURED,
	RING_KINDS,
};

struct ring_set {
	struct ring *items;		  /* ordered by kind, then by CPU */
	enum ring_kind kinds[RING_KINDS]; /* the kinds that exist, in order */
	unsigned kind_count;		  /* number of kinds */
	unsigned cpu_count;
	size_t ring_bytes; /* size of a sample ring */
	/* Size of a capture ring: the size of a sample ring, or half of it. */
	size_t captured_bytes;
	bool is_polled; /* the reader polls the rings by time */
	/* The wanted size exceeds the limit of locked memory. */
	bool is_shrunk;
};

/* Initializes closed rings of the kinds whose bit (1 << kind) is set. */
void ring_set_init(struct ring_set *set, unsigned kinds, size_t cpu_count);
void ring_set_deinit(struct ring_set *set);

/*
 * Opens a ring of each kind on each CPU.
 *
 * wanted_bytes is the size of a sample ring, rounded down to a power of two of
 * pages. 0 sizes it for the samples of 100 ms, within bounds; bytes_per_second
 * is the rate on one CPU, or 0 if unknown. If that exceeds the limit of locked
 * memory, the rings are halved until they fit. The capture rings, which are
 * rarely used, are halved first. A ring for context switches holds 50 ms of
 * 200,000 switches per second, if a sample ring is as large.
 *
 * is_polled: the reader polls by time, and only a sample ring that is half full
 * wakes it. If whole CPUs are sampled, a reader that samples wake would never
 * be sampled itself: it would run between two samples, which would attribute
 * its CPU time to others.
 */
MUST_CHECK struct error *ring_set_open(struct ring_set *set, const unsigned *cpus,
				       size_t wanted_bytes, uint64_t bytes_per_second,
				       bool is_polled);

/* Returns an epoll descriptor that is readable when a ring has enough records.
 * Capture rings are not watched. */
MUST_CHECK struct error *ring_set_watch(const struct ring_set *set, int *ret);

static inline unsigned ring_set_count(const struct ring_set *set)
{
	return set->kind_count * set->cpu_count;
}

/* Returns the rings of a kind, one per CPU, or NULL if the set lacks the
 * kind. */
struct ring *ring_set_of(const struct ring_set *set, enum ring_kind kind);

static inline enum ring_kind ring_set_kind(const struct ring_set *set, unsigned ring)
{
	return set->kinds[ring / set->cpu_count];
}

/* Returns the size of a ring of the kind. */
size_t ring_set_bytes(const struct ring_set *set, enum ring_kind kind);

#endif
