/*
 * Labels that identify a pushed profile: attributes of a resource
 * (OpenTelemetry) or labels of a series (Pyroscope, Parca). Keys are those of
 * OpenTelemetry ("service.name").
 */
#ifndef PROF_PUSH_LABELS_H
#define PROF_PUSH_LABELS_H

#include "profile/profile.h"

struct push_label {
	char *key, *text;
};

/* A zeroed list is empty. */
struct push_labels {
	struct push_label *items;
	size_t count, room;
};

void push_labels_deinit(struct push_labels *labels);
/* Copies both strings. Does nothing if the list has the key already. */
void push_labels_add(struct push_labels *labels, const char *key, const char *text);

/*
 * Adds the labels that follow from the profile: service.name (of the main
 * program, else "system"), host.name, and process.executable.name and .path of
 * the main program.
 */
void push_labels_add_profile(struct push_labels *labels, const struct profile *profile);

/*
 * Converts labels to those of a Prometheus-like series, sorted by name.
 * Characters that are not allowed in such names become "_". Adds __name__, the
 * kind of the first event: process_cpu, wall, off_cpu or memory.
 */
void push_labels_series(const struct push_labels *labels, const struct profile *profile,
			struct push_labels *ret);

#endif
