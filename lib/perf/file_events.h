/*
 * The events of a recording, and which of them wrote a record.
 *
 * Each event may have a layout of its own; a record's id, which stands at the same place in all of
 * them, tells them apart.
 */
#ifndef PROF_PERF_FILE_EVENTS_H
#define PROF_PERF_FILE_EVENTS_H

#include "base/error.h"
#include "base/idmap.h"
#include "perf/perfdata.h"
#include "perf/record.h"

/* Takes no samples: perf opens it for the side band. */
#define FILE_EVENT_SILENT UINT32_MAX

struct file_event {
	struct record_layout layout;
	struct perfdata_event event; /* its name is owned here */
	uint32_t number;	     /* among those that take samples, or FILE_EVENT_SILENT */
};

/* Zeroed: none. */
struct file_events {
	struct file_event *items;
	uint32_t count, room;
	uint32_t *sampling; /* by number: which item */
	uint32_t sampling_count, sampling_room;
	struct idmap by_id;
	bool build_ids; /* one of them has asked for them */
};

void file_events_deinit(struct file_events *events);

/* attr: a perf_event_attr, as long as it says itself at most; ids: u64s. */
MUST_CHECK struct error *file_events_add(struct file_events *events, struct bytes attr,
					 struct bytes ids);
/* What perf calls it; until then it is named by its numbers. */
void file_events_set_name(struct file_events *events, uint32_t index, const char *name);
/* IDMAP_NONE: no event has this id. */
uint32_t file_events_find(const struct file_events *events, uint64_t id);

/* Which event wrote the record; NULL: a sample of none that is known. There must be events. */
const struct file_event *file_events_of(const struct file_events *events, struct bytes raw);

#endif
