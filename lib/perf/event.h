/*
 * What to sample: an event as the user names it, made ready for perf_event_open(2).
 *
 * Names are perf's: generic hardware ("cycles", "instructions", "cache-misses", …), software
 * ("cpu-clock", "task-clock", "page-faults", "context-switches", …) and tracepoints
 * ("sched:sched_switch", looked up in tracefs), raw numbers ("r1a8"). Modifiers after the last
 * colon: u, k, p, pp, ppp.
 */
#ifndef PROF_PERF_EVENT_H
#define PROF_PERF_EVENT_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event {
	char *name;	       /* as the user wrote it; owned */
	uint32_t type;	       /* perf_event_attr.type */
	uint64_t config;       /* perf_event_attr.config */
	uint64_t period;       /* a sample every so many events; 0: by frequency */
	uint64_t frequency_hz; /* samples a second; 0: by period */
	bool counts_ns;	       /* its periods are nanoseconds of CPU time (cpu-clock, task-clock) */
	bool is_tracepoint;    /* each occurrence is of interest: a period of 1 suits it */
	bool exclude_user;
	bool exclude_kernel;
	unsigned precise; /* perf_event_attr.precise_ip */
};

/* Sets everything but period and frequency, which stay 0 for the caller to choose. */
MUST_CHECK struct error *event_parse(const char *spec, struct event *ret);
void event_deinit(struct event *event);

/* What a perf_event_attr's type and config are called, to be freed; "type 4 config 0x1a8" where
 * that is in no table. */
char *event_name_of(uint32_t type, uint64_t config);
/* Do its periods count nanoseconds of CPU time? */
bool event_counts_ns(uint32_t type, uint64_t config);

/*
 * The event to take when the user names none: `cycles` where this machine has a counter that counts
 * (it is opened on ourselves and tried), else `cpu-clock`, with `*reason` set to a static
 * half-sentence that says why ("no hardware counter: …"); NULL for cycles.
 */
void event_default(struct event *ret, const char **reason);

/* The decision alone: what a counter of cycles counted in a busy moment, or a negative errno. */
void event_choose_default(int64_t cycles_counted, struct event *ret, const char **reason);

/* /proc/sys/kernel/perf_event_max_sample_rate; 0 when it cannot be read. */
uint64_t event_max_frequency_hz(void);

#endif
