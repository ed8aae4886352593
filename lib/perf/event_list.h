/*
 * Lists the events of this machine with the names that -e takes. Each event is
 * opened on prof itself to find out whether prof may sample it.
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
	EVENT_ABSENT, /* does not exist on this machine */
};

struct listed_event {
	enum event_group group;
	char *name;
	char *description; /* may be NULL */
	enum event_standing standing;
};

/* Zeroed: empty. */
struct event_list {
	struct listed_event *items; /* sorted by group */
	size_t count, room;
	/* Why tracepoints could not be read; otherwise NULL. */
	struct error *tracepoints;
};

/* Returns whether an event is wanted. */
typedef bool event_list_filter(void *user, enum event_group group, const char *name);

void event_list_read(const struct pmus *pmus, event_list_filter *wants, void *user,
		     struct event_list *ret);
void event_list_deinit(struct event_list *list);

/* Opens an event that -e takes on prof itself. */
enum event_standing event_list_try(const char *spec, const struct pmus *pmus);

#endif
