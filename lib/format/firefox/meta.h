/*
 * The "meta" object of a Firefox Profiler file: the recording, categories and marker schemas.
 * Source: as firefox/tables.h.
 */
#ifndef PROF_FORMAT_FIREFOX_META_H
#define PROF_FORMAT_FIREFOX_META_H

#include "base/json.h"
#include "profile/profile.h"

/* Nanoseconds as a fraction of milliseconds. */
#define FIREFOX_MS_DIGITS 6
/* Those of the profile, by profile_marker_kind, and waits. */
#define FIREFOX_WAIT (PROFILE_MARKER_THROTTLED + 1)
#define FIREFOX_MARKERS (FIREFOX_WAIT + 1)

/* A marker's name and its data field; field and format are NULL if it has none. */
struct firefox_marker {
	const char *name, *field, *format;
};

/* Without waiting the last one is left out. */
extern const struct firefox_marker firefox_markers[FIREFOX_MARKERS];

struct firefox_meta {
	const struct profile *profile;
	event_id event;	    /* the event that is shown, … */
	event_id beside;    /* … with this one, or the same */
	uint64_t window_ns; /* length of the time range of the file */
	bool has_times;	    /* else times are synthesized */
};

/* Writes "meta" and its value. */
void firefox_put_meta(const struct firefox_meta *meta, struct json *json);

/* The requested interval between two samples. */
uint64_t firefox_interval_ns(const struct profile *profile, event_id event);

#endif
