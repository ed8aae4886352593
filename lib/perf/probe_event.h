/*
 * Events of code that runs: uprobes and kprobes, by the PMUs of that name.
 *
 * perf_event_open(2) takes a file and an offset in it (config1 and config2), or a function of the
 * kernel and an offset in it, and removes the probe when the descriptor is closed: nothing is left
 * behind, however prof ends. An event has one variant per place. A uprobe is of a file: it is armed
 * in each process that maps it, now or later.
 * Source: Documentation/ABI/testing/sysfs-bus-event_source-devices-format;
 * perf_kprobe_event_init() and perf_uprobe_event_init() in kernel/events/core.c.
 */
#ifndef PROF_PERF_PROBE_EVENT_H
#define PROF_PERF_PROBE_EVENT_H

#include "perf/event.h"

struct probe_event_place {
	const char *name; /* a file as prof can open it now; a function of the kernel */
	uint64_t offset;
	/* In the file: a counter of 16 bits that is not 0 while somebody traces (USDT); 0: none. */
	uint64_t semaphore;
};

struct probe_event {
	const char *name;  /* of the event */
	const char *terms; /* event_take_terms(); NULL: none */
	bool is_of_kernel;
	bool is_return;	     /* at the return from the function at each place */
	bool measures_calls; /* at both: each hit is a sample, the weight is for the caller to find
			      */
	bool follows_calls; /* is_return, and also at the entries, whose return addresses the kernel
			       replaces; their samples are not the event's (is_other_end) */
	const struct probe_event_place *places;
	size_t place_count;
};

/* Fails if the kernel has no such PMU, or for the terms. */
MUST_CHECK struct error *probe_event_make(const struct probe_event *from, const struct pmus *pmus,
					  struct event *ret);

#endif
