/*
 * The events of memory profiles, by the names that Go, jemalloc's readers and prof give them: what
 * was allocated, and what was in use at the end of the profile, in objects and in bytes.
 */
#ifndef PROF_PROFILE_MEMORY_EVENTS_H
#define PROF_PROFILE_MEMORY_EVENTS_H

#include "profile/profile.h"

/* In Go's order. */
enum memory_event {
	MEMORY_ALLOC_OBJECTS,
	MEMORY_ALLOC_SPACE,
	MEMORY_INUSE_OBJECTS,
	MEMORY_INUSE_SPACE,
};
#define MEMORY_EVENTS (MEMORY_INUSE_SPACE + 1)

const char *memory_event_name(enum memory_event which);
/* For profile_add_event(), which is left to the caller. */
struct profile_event memory_event_make(struct profile *profile, enum memory_event which);
/* Which of them an event of the profile is. Returns false if it measures something else. */
bool memory_event_of(const struct profile *profile, event_id event, enum memory_event *ret);
/* The profile's event that is `which`. Returns false if it has none. */
bool memory_event_find(const struct profile *profile, enum memory_event which, event_id *ret);

/* Whether the values of an event are memory that the program got: one of the above, or growth. They
 * belong to the function that asked for it (report/allocating_place.h). */
bool memory_is_got(const struct profile *profile, event_id event);

/* Whether the profile has events of memory alone: figures about samples of CPU time mean nothing.
 */
bool memory_is_alone(const struct profile *profile);

/*
 * The event that is shown unless the user chooses one: the first, but alloc_space of memory that
 * prof has recorded, because often nothing is in use at the end. Files of other profilers say which
 * of their events comes first.
 */
event_id memory_shown_event(const struct profile *profile);
/* The same for pprof's default_sample_type: inuse_space, as in Go. */
event_id memory_default_type(const struct profile *profile, event_id shown);

#endif
