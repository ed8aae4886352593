/*
 * The record layouts of a recording, one per event, and which of them a record has.
 *
 * With one event all records have its layout. With several, each record carries the kernel's id of
 * the event that wrote it (PERF_SAMPLE_IDENTIFIER or PERF_SAMPLE_ID); the id has the same place in
 * all layouts. Used for rings and for perf.data files.
 */
#ifndef PROF_PERF_LAYOUTS_H
#define PROF_PERF_LAYOUTS_H

#include "base/idmap.h"
#include "perf/record.h"

/* Zeroed: empty. */
struct layouts {
	struct record_layout *items;
	uint32_t count, room;
	struct idmap by_id; /* the kernel's event id → index into items */
};

void layouts_deinit(struct layouts *layouts);

/* False if the id has another place than in the first layout: the records could not be told apart.
 */
bool layouts_add(struct layouts *layouts, const struct record_layout *layout);
/* One of the ids of the event whose layout was added as number `index`. */
void layouts_add_id(struct layouts *layouts, uint64_t id, uint32_t index);

/*
 * The layout of a record; there must be at least one. NULL for a sample with an unknown id. Other
 * records with an unknown id have the layout of the first event: the side band is written by events
 * that take no samples, and perf synthesizes records with id 0.
 */
const struct record_layout *layouts_find(const struct layouts *layouts, struct bytes raw);

#endif
