/*
 * The executable mappings of one process through time: rectangles of addresses × time that never
 * overlap. The present ones are a sorted array; the past ones are kept until nobody can ask for
 * them any more.
 *
 * There is no record of munmap(2): a mapping ends where another takes its place, or all end at an
 * exec or exit. Changes may come in any order and take effect at their own time: a change that
 * comes late gives way to what is known to have happened after it.
 */
#ifndef PROF_PROC_REGIONS_H
#define PROF_PROC_REGIONS_H

#include "proc/module.h"

struct region {
	uint64_t start, end;
	uint64_t offset; /* in the module, of start */
	uint64_t from_ns, until_ns;
	uint64_t confirmed_ns; /* when it was last said to be there; kept by regions itself */
	module_id module;
};

/* A zeroed one is empty. */
struct regions {
	struct region *live; /* sorted by start; until_ns is REGION_FOREVER */
	size_t live_count, live_room;
	struct region *past; /* in no order */
	size_t past_count, past_room;
	uint64_t *clears; /* times of exec, exit; in no order */
	size_t clear_count, clear_room;
	uint64_t past_until_ns; /* no past region lasts longer */
	uint64_t changed_ns;	/* the time of the last change */
};

#define REGION_FOREVER UINT64_MAX

void regions_deinit(struct regions *regions);

/*
 * new->until_ns is taken as REGION_FOREVER. What is known already takes no room, however often it
 * is said: mprotect(2) on JIT memory repeats it endlessly.
 */
void regions_map(struct regions *regions, const struct region *new);
/* All that began until time_ns ends there. */
void regions_clear(struct regions *regions, uint64_t time_ns);
/* Adds what `from` held at time_ns between start and end. */
void regions_inherit(struct regions *regions, const struct regions *from, uint64_t time_ns,
		     uint64_t start, uint64_t end);
/* NULL when nothing was mapped at pc then. Borrowed until the next change. */
const struct region *regions_find(const struct regions *regions, uint64_t time_ns, uint64_t pc);
/* Nobody will ask for times before before_ns. True when nothing is left at all. */
bool regions_forget(struct regions *regions, uint64_t before_ns);
bool regions_empty(const struct regions *regions);

#endif
