/*
 * Shedding chooses the processes whose mappings are dropped when there is too much of them.
 *
 * Each user has a fair share of what may stay. Users who need more lose first, the one who needs
 * most before the others: first what has ended, then the older half of the mappings of the
 * costliest processes, then all mappings of the costliest processes, or of those that were not used
 * for longest among equals.
 */
#ifndef PROF_PROC_SHEDDING_H
#define PROF_PROC_SHEDDING_H

#include "proc/regions.h"

#include <sys/types.h>

struct shed_process {
	struct regions *regions;
	uid_t user;
	uint64_t used_ns;
	size_t cost;	   /* as regions_cost() */
	size_t user_cost;  /* set by shed() */
	uint32_t index;	   /* the caller's */
	bool has_lost_all; /* set by shed(): the caller forgets the process */
};

/*
 * Drops mappings until the processes cost no more than `target`; they are sorted then. own_bytes:
 * what is freed with each process, and is part of its cost; 0 if the cost is not in bytes.
 */
void shed(struct shed_process *processes, size_t count, size_t target, size_t own_bytes);

#endif
