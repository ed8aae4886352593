/*
 * What a Firefox Profiler file says about itself: the recording, categories, kinds of markers.
 * Source: as firefox_tables.h.
 */
#ifndef PROF_FORMAT_FIREFOX_META_H
#define PROF_FORMAT_FIREFOX_META_H

#include "base/json.h"
#include "profile/profile.h"

/* Nanoseconds as a fraction of milliseconds. */
#define FIREFOX_MS_DIGITS 6
#define FIREFOX_MARKERS (PROFILE_MARKER_THROTTLED + 1)

/* What a marker is called, and what its text or count is; NULL: it has none. */
struct firefox_marker {
	const char *name, *field, *format;
};

/* By profile_marker_kind. */
extern const struct firefox_marker firefox_markers[FIREFOX_MARKERS];

struct firefox_meta {
	const struct profile *profile;
	uint64_t window_ns; /* that the file's times are in */
	bool has_times;	    /* else they are made up */
};

/* "meta" and its value. */
void firefox_put_meta(const struct firefox_meta *meta, struct json *json);

/* Between two samples, as was asked for. */
uint64_t firefox_interval_ns(const struct profile *profile);

#endif
