/*
 * perf_event_attr: the three kinds of descriptor a recording opens, and the system call.
 *
 * Every record carries the trailer of sample_id_all with PERF_SAMPLE_IDENTIFIER, and its time in
 * CLOCK_MONOTONIC (Linux 4.1), so that records of all descriptors compare with each other and with
 * our own clock.
 * Source: perf_event_open(2).
 */
#ifndef PROF_PERF_ATTR_H
#define PROF_PERF_ATTR_H

#include "base/error.h"
#include "perf/event.h"
#include "perf/sampler.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What older kernels refuse. */
struct attr_features {
	bool build_id; /* build-ids in MMAP2 records: Linux 5.12 */
	bool lost;     /* PERF_FORMAT_LOST: Linux 6.0 */
};

/* Finds out by trying, once, on ourselves. An error means that nothing can be sampled at all. */
MUST_CHECK struct error *attr_probe(struct attr_features *ret);

/*
 * A descriptor to own a ring: on ourselves, so that it outlives every thread of the target (a ring
 * whose owner is dead polls as hung up for ever). It counts nothing. The ring's reader wakes after
 * every watermark_bytes.
 */
void attr_ring_owner(struct perf_event_attr *attr, uint32_t watermark_bytes);

/* A descriptor that writes the side band; enabled from the start, for a disabled one writes none.
 */
void attr_side_band(struct perf_event_attr *attr, const struct attr_features *features,
		    bool inherit);

/* A descriptor that samples. */
void attr_samples(struct perf_event_attr *attr, const struct event *event,
		  const struct sampler_options *options, const struct attr_features *features);

/* User space only; the call chains likewise. */
void attr_exclude_kernel(struct perf_event_attr *attr);

/* A descriptor, or a negative errno. pid 0: ourselves, -1: everyone. cpu -1: all. */
int attr_open(const struct perf_event_attr *attr, pid_t pid, int cpu);

#endif
