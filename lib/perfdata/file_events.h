/*
 * The events of a perf.data file: the layouts of their records, and the
 * properties of sampling events.
 */
#ifndef PROF_PERFDATA_FILE_EVENTS_H
#define PROF_PERFDATA_FILE_EVENTS_H

#include "base/error.h"
#include "perf/field_reader.h"
#include "perf/layouts.h"
#include "perfdata/description.h"

#include <linux/perf_event.h>

/* record_layout.event of a dummy event, which perf opens for the side band. */
#define FILE_EVENT_SILENT UINT32_MAX

/* An event that takes samples. On a machine with several kinds of CPU perf
 * opens one for each PMU ("cpu_core/cycles/", "cpu_atom/cycles/"). They are
 * merged into one event, "cycles". */
struct sampling_event {
	struct perfdata_event event; /* owns the name */
	struct perf_event_attr attr; /* attributes of the first kind */
	bool has_kinds;		     /* there are several kinds */
	/* For a tracepoint whose format is known; owned; may be NULL. */
	struct field_reader *reader;
};

/* Zeroed: empty. */
struct file_events {
	/* Layouts of all events, in the order of the file. */
	struct layouts layouts;
	struct sampling_event *sampling; /* indexed by record_layout.event */
	uint32_t sampling_count, sampling_room;
	/* Maps ids of tracepoints to indexes into `sampling`. */
	struct idmap tracepoints;
	/* An event has requested build-ids in mmap records. */
	bool build_ids;
	/* An event has requested records of context switches. */
	bool switches;
};

void file_events_deinit(struct file_events *events);

/* attr is a perf_event_attr of any size; ids are u64s. */
MUST_CHECK struct error *file_events_add(struct file_events *events, struct bytes attr,
					 struct bytes ids);
/* Replaces the name of event `index`, which was derived from its type and
 * config. */
void file_events_set_name(struct file_events *events, uint32_t index, const char *name);
/* Sets the format of a tracepoint, as in tracefs. Ignored if no event samples
 * it. */
void file_events_add_format(struct file_events *events, const char *subsystem, struct bytes text);
/* Returns the index of the event with this id, or IDMAP_NONE. */
uint32_t file_events_find(const struct file_events *events, uint64_t id);

#endif
