/*
 * Encodes a profile as an OTLP ExportProfilesServiceRequest (v1development),
 * which OpenTelemetry Collectors accept.
 *
 * Each event is one Profile. A sample has its weight. If the profile has timed
 * samples of it, the sample has their times, and its weight is distributed over
 * them. The attributes of a sample are its thread (process.pid,
 * process.executable.name, thread.id, thread.name) and its other labels.
 * Source: https://opentelemetry.io/docs/specs/otlp/, semantic conventions
 * "Profile".
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
	/* Attributes of the whole request, such as "service.name". */
	const struct otlp_attribute *resource;
	size_t resource_count;
	enum name_style names;
};

/*
 * Appends the request. The ids of its profiles are computed from their contents
 * and the resource, so a repeated request is identical. Fails if a count is
 * 2^63 or more.
 */
MUST_CHECK struct error *otlp_encode(const struct profile *profile,
				     const struct otlp_options *options, struct wire_message *into);

#endif
