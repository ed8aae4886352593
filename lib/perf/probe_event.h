/*
 * Builds events for probes of code, from the PMUs uprobe and kprobe.
 *
 * perf_event_open(2) takes a file and an offset in it (config1 and config2), or
 * a kernel function and an offset in it. The kernel removes the probe when the
 * descriptor is closed, so none survives prof, even if prof is killed. An event
 * has one variant per place. A uprobe applies to a file: it is armed in each
 * process that maps the file, now or later.
 *
 * Source: Documentation/ABI/testing/sysfs-bus-event_source-devices-format;
 * perf_kprobe_event_init() and perf_uprobe_event_init() in
 * kernel/events/core.c.
 */
#ifndef PROF_PERF_PROBE_EVENT_H
#define PROF_PERF_PROBE_EVENT_H

#include "perf/event.h"

struct probe_event_place {
	const char *name; /* a file that prof can open now, or a kernel function */
	uint64_t offset;
	/* Offset of a 16-bit counter in the file that is not 0 while a tracer
	 * is attached (USDT), or 0. */
	uint64_t semaphore;
};

struct probe_event {
	const char *name;  /* name of the event */
	const char *terms; /* terms for event_take_terms(), or NULL */
	bool is_of_kernel;
	bool is_return; /* probe the return from the function at each place */
	/* Probe entries and returns: each hit is a sample, and the caller
	 * determines the weight. */
	bool measures_calls;
	/* Requires is_return. Probe the entries as well, because the kernel
	 * replaces the return addresses of these calls. Samples of entries do
	 * not belong to the event (is_other_end). */
	bool follows_calls;
	const struct probe_event_place *places;
	size_t place_count;
};

/* Fails if the kernel has no such PMU, or if a term is invalid. */
MUST_CHECK struct error *probe_event_make(const struct probe_event *from, const struct pmus *pmus,
					  struct event *ret);

#endif
