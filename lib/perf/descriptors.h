/*
 * The descriptors of one recording: a side-band event and the sampling events for each thread of
 * the target on each CPU, redirected into the rings of that CPU.
 *
 * One of each a thread AND a CPU, because the kernel maps no inherited event that follows its
 * thread over CPUs, and redirects only within one CPU.
 */
#ifndef PROF_PERF_DESCRIPTORS_H
#define PROF_PERF_DESCRIPTORS_H

#include "base/error.h"
#include "perf/attr.h"
#include "perf/coverage.h"
#include "perf/ring.h"
#include "perf/sampler.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fd_list {
	int *items;
	unsigned *cpus; /* of each item: the index of its CPU */
	size_t count, room;
};

struct event_id {
	uint64_t id;
	unsigned event;
};

struct descriptors {
	const struct event *events; /* borrowed; only while opening */
	size_t event_count;
	struct perf_event_attr *sample_attrs; /* one an event */
	struct perf_event_attr side_attr;
	bool kernel_excluded;

	const unsigned *cpus; /* borrowed, as the rings: one of each kind a CPU */
	size_t cpu_count;
	const struct ring *side_rings, *sample_rings;

	struct fd_list side, samples;
	struct event_id *ids; /* of the samples, in order of opening; none for a single event */
	size_t id_count, id_room;
	struct coverage coverage;
};

void descriptors_deinit(struct descriptors *descriptors);

/*
 * Opens the target, samples disabled. Everything above `side` must be set; what must not be kept
 * after a failure is freed by descriptors_deinit() as after a success. ESRCH: no such process.
 */
MUST_CHECK struct error *descriptors_open(struct descriptors *descriptors,
					  const struct target *target);

MUST_CHECK struct error *descriptors_enable(const struct descriptors *descriptors);
void descriptors_disable(const struct descriptors *descriptors);

/* The records that found no room in the rings so far, with attr_features.lost. */
uint64_t descriptors_lost(const struct descriptors *descriptors);

#endif
