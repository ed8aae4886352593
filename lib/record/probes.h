/*
 * Probes of code among the events of a recording (probe/spec.h): their places as events of perf.
 */
#ifndef PROF_RECORD_PROBES_H
#define PROF_RECORD_PROBES_H

#include "perf/event.h"
#include "probe/resolve.h"
#include "record/config.h"

/* Zeroed: none. The files of probes are open until probes_deinit(): events name them by
 * descriptors. */
struct probes {
	struct probe *items;
	size_t count, room;
};

MUST_CHECK struct error *probes_add(struct probes *probes, const char *text,
				    const struct record_config *config, const struct pmus *pmus,
				    struct event *ret);
void probes_deinit(struct probes *probes);

/* Gives the listener a notice of each probe that has several places. */
void probes_notice(const struct probes *probes, const struct listener *listener);

#endif
