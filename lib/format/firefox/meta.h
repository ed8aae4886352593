/*
 * Writes the "meta" object of a Firefox Profiler file: the recording,
 * categories and marker schemas. Source: see firefox/tables.h.
 */
#ifndef PROF_FORMAT_FIREFOX_META_H
#define PROF_FORMAT_FIREFOX_META_H

#include "base/json.h"
#include "profile/profile.h"

/* Digits that express nanoseconds as a fraction of milliseconds. */
#define FIREFOX_MS_DIGITS 6
/* Markers of the profile by profile_marker_kind, followed by ranges of time. */
#define FIREFOX_SILENT (PROFILE_MARKER_THROTTLED + 1)
#define FIREFOX_CRITICAL (FIREFOX_SILENT + 1)
#define FIREFOX_WAIT (FIREFOX_CRITICAL + 1)
#define FIREFOX_MARKERS (FIREFOX_WAIT + 1)

/*
 * A marker's name and its data field. field and format are NULL if it has none.
 */
struct firefox_marker {
	const char *name, *field, *format;
};

/* The ranges are omitted if the profile lacks their event. */
extern const struct firefox_marker firefox_markers[FIREFOX_MARKERS];

struct firefox_meta {
	const struct profile *profile;
	event_id event;	    /* the event that is shown */
	event_id beside;    /* the event shown with it, or the same */
	uint64_t window_ns; /* length of the time range of the file */
	bool has_times;	    /* else times are synthesized */
};

/* Writes "meta" and its value. */
void firefox_put_meta(const struct firefox_meta *meta, struct json *json);

/* Returns the requested interval between two samples. */
uint64_t firefox_interval_ns(const struct profile *profile, event_id event);

#endif
