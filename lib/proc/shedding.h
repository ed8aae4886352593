/*
 * Chooses the processes whose mappings are dropped when there are too many.
 *
 * Each user has a fair share. Users above it lose mappings first, in the order
 * of their usage. They first lose what has ended, then the older half of the
 * mappings of their costliest processes, and then all mappings of these
 * processes. Among equals, the least recently used processes lose first.
 */
#ifndef PROF_PROC_SHEDDING_H
#define PROF_PROC_SHEDDING_H

#include "proc/regions.h"

#include <sys/types.h>

struct shed_process {
	struct regions *regions;
	uid_t user;
	uint64_t used_ns;
	size_t cost;	   /* from regions_cost() */
	size_t user_cost;  /* set by shed() */
	uint32_t index;	   /* set by the caller */
	bool has_lost_all; /* set by shed(): the caller must forget the process */
};

/*
 * Drops mappings until the processes cost no more than `target`. Sorts
 * `processes`. `own_bytes` is the part of a process's cost that is freed with
 * the process itself, or 0 if the cost is not in bytes.
 */
void shed(struct shed_process *processes, size_t count, size_t target, size_t own_bytes);

#endif
