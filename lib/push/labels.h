/*
 * What a pushed profile is found by: attributes of a resource (OpenTelemetry), or labels of a
 * series (Pyroscope, Parca). Keys are OpenTelemetry's ("service.name").
 */
#ifndef PROF_PUSH_LABELS_H
#define PROF_PUSH_LABELS_H

#include "profile/profile.h"

struct push_label {
	char *key, *text;
};

/* Zeroed: none. */
struct push_labels {
	struct push_label *items;
	size_t count, room;
};

void push_labels_deinit(struct push_labels *labels);
/* Does nothing if the key is there. Both are copied. */
void push_labels_add(struct push_labels *labels, const char *key, const char *text);

/*
 * Adds what the profile tells: service.name (of the main program, else "system"), host.name, and
 * process.executable.name and .path of the main program.
 */
void push_labels_add_profile(struct push_labels *labels, const struct profile *profile);

/*
 * The labels of a Prometheus-like series: names with "_" for what such names cannot have, and
 * __name__, which is of the kind of the first event: process_cpu, wall, off_cpu or memory. Sorted
 * by name.
 */
void push_labels_series(const struct push_labels *labels, const struct profile *profile,
			struct push_labels *ret);

#endif
