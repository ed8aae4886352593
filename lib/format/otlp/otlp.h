/*
 * Encodes a profile as an OTLP ExportProfilesServiceRequest (v1development), which Collectors of
 * OpenTelemetry take.
 *
 * Each event is one Profile. A sample has its weight; with its times if the profile has timed
 * samples of it: its weight is shared out among them then. The attributes of a sample are its
 * thread (process.pid, process.executable.name, thread.id, thread.name) and its other labels.
 * Source: https://opentelemetry.io/docs/specs/otlp/, semantic conventions "Profile".
 */
#ifndef PROF_FORMAT_OTLP_OTLP_H
#define PROF_FORMAT_OTLP_OTLP_H

#include "base/error.h"
#include "format/pprof/wire.h"
#include "profile/profile.h"
#include "report/display_names.h"

struct otlp_attribute {
	const char *key, *text;
};

struct otlp_options {
	const struct otlp_attribute *resource; /* of the whole request: "service.name" … */
	size_t resource_count;
	enum name_style names;
};

/*
 * Appends the request. The ids of its profiles follow from their contents and the resource: a
 * request that is sent twice is the same. Fails if a count is 2^63 or more.
 */
MUST_CHECK struct error *otlp_encode(const struct profile *profile,
				     const struct otlp_options *options, struct wire_message *into);

#endif
