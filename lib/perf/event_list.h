/*
 * The events of this machine, with the names that -e takes, and whether the kernel lets prof sample
 * them: each is opened on prof itself.
 */
#ifndef PROF_PERF_EVENT_LIST_H
#define PROF_PERF_EVENT_LIST_H

#include "base/error.h"
#include "perf/pmu.h"

#include <stdbool.h>
#include <stddef.h>

enum event_group {
	EVENTS_HARDWARE,
	EVENTS_SOFTWARE,
	EVENTS_CACHE,
	EVENTS_PMU,
	EVENTS_TRACEPOINT,
	EVENTS_PROBE,
	EVENTS_GROUPS,
};

enum event_standing {
	EVENT_AVAILABLE,
	EVENT_NEEDS_ROOT,
	EVENT_ABSENT, /* not on this machine */
};

struct listed_event {
	enum event_group group;
	char *name;
	char *description; /* NULL: none */
	enum event_standing standing;
};

/* Zeroed: empty. */
struct event_list {
	struct listed_event *items; /* by group */
	size_t count, room;
	struct error *tracepoints; /* why there are none; NULL: they could be read */
};

/* Which events are wanted. */
typedef bool event_list_filter(void *user, enum event_group group, const char *name);

void event_list_read(const struct pmus *pmus, event_list_filter *wants, void *user,
		     struct event_list *ret);
void event_list_deinit(struct event_list *list);

/* Tries to sample an event that -e takes. */
enum event_standing event_list_try(const char *spec, const struct pmus *pmus);

#endif
