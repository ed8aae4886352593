/*
 * The events that the kernel defines for all machines: hardware ("cycles"),
 * caches ("LLC-load-misses") and software ("cpu-clock"). They have perf's
 * names; some have aliases.
 * Source: perf_event_open(2), PERF_TYPE_HARDWARE, _HW_CACHE and _SOFTWARE.
 */
#ifndef PROF_PERF_KNOWN_EVENT_H
#define PROF_PERF_KNOWN_EVENT_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Finds the perf_event_attr.type and config. Returns false if the name is
 * unknown. */
MUST_CHECK bool known_event_find(const char *name, uint32_t *type, uint64_t *config);
/* Returns the name, which the caller frees, or NULL if no event has this type
 * and config. */
char *known_event_name(uint32_t type, uint64_t config);
struct known_event {
	const char *name;
	const char *description; /* NULL if the name is self-explanatory */
	uint32_t type;
	uint64_t config;
};
typedef void known_event_taker(void *user, const struct known_event *event);
/* Passes all events to `take`: hardware, software, then caches. */
void known_event_each(known_event_taker *take, void *user);

/* Returns the event that a misspelt name may mean, or NULL. */
const char *known_event_nearest(const char *name);

#endif
