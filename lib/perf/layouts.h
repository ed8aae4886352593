/*
 * Finds the layout of a record among the layouts of a recording, one per event.
 * Used for rings and for perf.data files.
 *
 * With one event, all records have its layout. With several, each record
 * carries the kernel's id of the event that wrote it (PERF_SAMPLE_IDENTIFIER or
 * PERF_SAMPLE_ID). All layouts have the id at the same place.
 */
#ifndef PROF_PERF_LAYOUTS_H
#define PROF_PERF_LAYOUTS_H

#include "base/idmap.h"
#include "perf/record.h"

/* Zeroed: empty. */
struct layouts {
	struct record_layout *items;
	uint32_t count, room;
	struct idmap by_id; /* maps the kernel's event id to an index into items */
};

void layouts_deinit(struct layouts *layouts);

/* Returns false if the id has a different place than in the first layout,
 * because records could not be attributed then. */
bool layouts_add(struct layouts *layouts, const struct record_layout *layout);
/* Adds one of the ids of the event whose layout has this index. */
void layouts_add_id(struct layouts *layouts, uint64_t id, uint32_t index);

/*
 * Returns the layout of a record, or NULL for a sample with an unknown id.
 * There must be at least one layout. Other records with an unknown id have the
 * layout of the first event: the side band is written by events that take no
 * samples, and perf synthesizes records with id 0.
 */
const struct record_layout *layouts_find(const struct layouts *layouts, struct bytes raw);

#endif
