/*
 * Collects, per process, the waits of threads that ended before a snapshot
 * observed any of their waits. They are attributed to the blocking function of
 * the next short-lived thread of the same process that was observed.
 */
#ifndef PROF_WAITING_ORPHANED_WAITS_H
#define PROF_WAITING_ORPHANED_WAITS_H

#include "base/idmap.h"
#include "waiting/wait_weights.h"

/* Empty when zeroed. */
struct orphaned_waits {
	struct process_waits *items;
	uint32_t count, room;
	struct idmap by_pid;
};

void orphaned_waits_deinit(struct orphaned_waits *orphans);

void orphaned_waits_add(struct orphaned_waits *orphans, pid_t pid, const struct unmet_waits *waits);
/*
 * Passes the waits of one process to the sink with this place. PLACE_UNKNOWN
 * means that no thread can supply a place any more.
 */
void orphaned_waits_give(struct orphaned_waits *orphans, const struct wait_sink *sink, pid_t pid,
			 wait_place place);
/* Passes all waits to the sink without a place. */
void orphaned_waits_give_all(struct orphaned_waits *orphans, const struct wait_sink *sink);

#endif
