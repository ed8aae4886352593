/*
 * The rings of one recording: on each CPU a small one for the side band, one for context switches
 * if they are recorded, one for samples if there are any and, with deep-stack capture, a second one
 * for samples, of which each wakes the CPU's copier.
 *
 * The rings are in the order of their kinds: a batch notes the heads of the sample rings before
 * those of the side band, and on equal times the side band comes first (ring_merge.h).
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
	struct ring *items; /* all of one kind, then all of the next; each kind by CPU */
	enum ring_kind kinds[RING_KINDS]; /* that there are, in order … */
	unsigned kind_count;		  /* … and how many */
	unsigned cpu_count;
	size_t ring_bytes;     /* of one sample ring */
	size_t captured_bytes; /* of one for capture: as large, or half as large */
	bool is_polled;	       /* the reader comes by time */
	bool is_shrunk;	       /* locked memory does not suffice for what was wanted */
};

/* Closed rings of the kinds of which a bit (1 << kind) is set. */
void ring_set_init(struct ring_set *set, unsigned kinds, size_t cpu_count);
void ring_set_deinit(struct ring_set *set);

/*
 * Opens a ring of each kind on each CPU. wanted_bytes: of a sample ring, rounded down to a power of
 * two of pages; 0: as much as samples take in 100 ms, within bounds (bytes_per_second, of a CPU; 0:
 * unknown). Where locked memory is too small for that, the rings are halved until they fit; those
 * of capture first, which are rarely used. A ring for context switches holds those of 50 ms at
 * 200,000 switches a second, if a sample ring is as large.
 *
 * is_polled: the reader comes by time and is woken only by a sample ring that is half full. Where
 * whole CPUs are sampled, a reader that samples wake is never sampled itself: it runs between two
 * samples, and they show its CPU time as that of others.
 */
MUST_CHECK struct error *ring_set_open(struct ring_set *set, const unsigned *cpus,
				       size_t wanted_bytes, uint64_t bytes_per_second,
				       bool is_polled);

/* An epoll descriptor: readable when a ring is worth reading. The rings of capture are left out. */
MUST_CHECK struct error *ring_set_watch(const struct ring_set *set, int *ret);

static inline unsigned ring_set_count(const struct ring_set *set)
{
	return set->kind_count * set->cpu_count;
}

/* One per CPU; NULL: the set lacks this kind. */
struct ring *ring_set_of(const struct ring_set *set, enum ring_kind kind);

static inline enum ring_kind ring_set_kind(const struct ring_set *set, unsigned ring)
{
	return set->kinds[ring / set->cpu_count];
}

/* The size of a ring of a kind. */
size_t ring_set_bytes(const struct ring_set *set, enum ring_kind kind);

#endif
