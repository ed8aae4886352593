/*
 * Code probes among the events of a recording (probe/spec.h). Converts their
 * places to perf events.
 */
#ifndef PROF_RECORD_PROBES_H
#define PROF_RECORD_PROBES_H

#include "perf/event.h"
#include "probe/resolve.h"
#include "record/config.h"

/* A zeroed list is empty. The files of probes stay open until probes_deinit(),
 * because events refer to their descriptors. */
struct probes {
	struct probe *items;
	size_t count, room;
};

MUST_CHECK struct error *probes_add(struct probes *probes, const char *text,
				    const struct record_config *config, const struct pmus *pmus,
				    struct event *ret);
void probes_deinit(struct probes *probes);

/* Reports to the listener each probe that has several places. */
void probes_notice(const struct probes *probes, const struct listener *listener);

#endif
