/*
 * The events of memory profiles, with the names that Go, jemalloc's tools and
 * prof use: allocated memory, and memory in use at the end of the profile, in
 * objects and in bytes.
 */
#ifndef PROF_PROFILE_MEMORY_EVENTS_H
#define PROF_PROFILE_MEMORY_EVENTS_H

#include "profile/profile.h"

/* The events in the order of Go's heap profiles. */
enum memory_event {
	MEMORY_ALLOC_OBJECTS,
	MEMORY_ALLOC_SPACE,
	MEMORY_INUSE_OBJECTS,
	MEMORY_INUSE_SPACE,
};
#define MEMORY_EVENTS (MEMORY_INUSE_SPACE + 1)

const char *memory_event_name(enum memory_event which);
/* Returns the event for profile_add_event(), which the caller calls. */
struct profile_event memory_event_make(struct profile *profile, enum memory_event which);
/*
 * Stores which memory event an event of the profile is. Returns false if it is
 * another one.
 */
bool memory_event_of(const struct profile *profile, event_id event, enum memory_event *ret);
/* Stores the id of the event `which`. Returns false if the profile lacks it. */
bool memory_event_find(const struct profile *profile, enum memory_event which, event_id *ret);

/*
 * Returns whether the values of an event are memory that the program obtained:
 * a memory event, or growth of the process. They belong to the function that
 * requested the memory (report/allocating_place.h).
 */
bool memory_is_got(const struct profile *profile, event_id event);

/*
 * Returns whether the profile has only memory events. Numbers about samples of
 * CPU time have no meaning then.
 */
bool memory_is_alone(const struct profile *profile);

/*
 * Returns the event that is shown unless the user chooses one. It is the first
 * event, except in memory profiles that prof recorded: there it is alloc_space,
 * because often no memory is in use at the end. Files of other profilers name
 * their default event.
 */
event_id memory_shown_event(const struct profile *profile);
/* Returns the event for pprof's default_sample_type: inuse_space, like Go. */
event_id memory_default_type(const struct profile *profile, event_id shown);

#endif
