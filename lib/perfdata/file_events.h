/*
 * The events of a perf.data file: the layouts of their records, and what is known of those that
 * take samples.
 */
#ifndef PROF_PERFDATA_FILE_EVENTS_H
#define PROF_PERFDATA_FILE_EVENTS_H

#include "base/error.h"
#include "perf/field_reader.h"
#include "perf/layouts.h"
#include "perfdata/description.h"

#include <linux/perf_event.h>

/* record_layout.event of a dummy event: perf opens one for the side band. */
#define FILE_EVENT_SILENT UINT32_MAX

/* An event that takes samples. On a machine with several kinds of CPU perf opens one for each PMU
 * ("cpu_core/cycles/", "cpu_atom/cycles/"): they are one event here, "cycles". */
struct sampling_event {
	struct perfdata_event event; /* the name is owned */
	struct perf_event_attr attr; /* of the first one */
	bool has_kinds;		     /* there are others */
	struct field_reader *reader; /* of a tracepoint whose format is known; owned; or NULL */
};

/* Zeroed: empty. */
struct file_events {
	struct layouts layouts;		 /* of all events, in the order of the file */
	struct sampling_event *sampling; /* by record_layout.event */
	uint32_t sampling_count, sampling_room;
	struct idmap tracepoints; /* their numbers → index into sampling */
	bool build_ids;		  /* an event asked for build-ids in mmap records */
};

void file_events_deinit(struct file_events *events);

/* attr: a perf_event_attr of any size; ids: u64s. */
MUST_CHECK struct error *file_events_add(struct file_events *events, struct bytes attr,
					 struct bytes ids);
/* Replaces the name of event `index`, which is made of its type and config until then. */
void file_events_set_name(struct file_events *events, uint32_t index, const char *name);
/* The format of a tracepoint, as in tracefs; ignored if no event samples it. */
void file_events_add_format(struct file_events *events, const char *subsystem, struct bytes text);
/* The index of the event with this id; IDMAP_NONE if there is none. */
uint32_t file_events_find(const struct file_events *events, uint64_t id);

#endif
