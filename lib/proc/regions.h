/*
 * The executable mappings of one process through time: rectangles of address × time that never
 * overlap. Present mappings are a sorted array; past ones are kept until regions_forget().
 *
 * There is no record of munmap(2): a mapping ends where another replaces it, and all end at an
 * exec or exit. Changes may arrive in any order and take effect at their own time: a late change
 * gives way to what is known to have happened after it.
 */
#ifndef PROF_PROC_REGIONS_H
#define PROF_PROC_REGIONS_H

#include "proc/module.h"

struct region {
	uint64_t start, end;
	uint64_t offset; /* in the module, of start */
	uint64_t from_ns, until_ns;
	uint64_t confirmed_ns; /* when a record last confirmed it; maintained by regions */
	module_id module;
	bool has_samples;
};

/* Zero-initialized: empty. */
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
 * new->until_ns is ignored and taken as REGION_FOREVER. A mapping that is known already takes no
 * room, however often it is reported: mprotect(2) on JIT memory reports it endlessly.
 */
void regions_map(struct regions *regions, const struct region *new);
/* Ends all regions that began before time_ns. */
void regions_clear(struct regions *regions, uint64_t time_ns);
/* Adds what `from` held at time_ns between start and end. */
void regions_inherit(struct regions *regions, const struct regions *from, uint64_t time_ns,
		     uint64_t start, uint64_t end);
/* NULL if nothing was mapped at pc at that time. Borrowed until the next change. */
struct region *regions_find(const struct regions *regions, uint64_t time_ns, uint64_t pc);
/* The present mapping that begins last, at or before this address. NULL: none does. */
const struct region *regions_before(const struct regions *regions, uint64_t address);
/* The number of mappings, past ones included. */
size_t regions_count(const struct regions *regions);
/* Forgets past mappings and the older half of the present ones. */
void regions_halve(struct regions *regions);
/* No time before before_ns will be looked up. True if nothing is left. */
bool regions_forget(struct regions *regions, uint64_t before_ns);
bool regions_empty(const struct regions *regions);

#endif
