/*
 * Waits of threads that ended before any of their waits was met, by process. They stand where the
 * next such thread of the process waited.
 */
#ifndef PROF_WAITING_ORPHANED_WAITS_H
#define PROF_WAITING_ORPHANED_WAITS_H

#include "base/idmap.h"
#include "waiting/wait_weights.h"

/* Zeroed: empty. */
struct orphaned_waits {
	struct process_waits *items;
	uint32_t count, room;
	struct idmap by_pid;
};

void orphaned_waits_deinit(struct orphaned_waits *orphans);

void orphaned_waits_add(struct orphaned_waits *orphans, pid_t pid, const struct unmet_waits *waits);
/* Gives out those of a process, at this place; PLACE_UNKNOWN: no thread will tell. */
void orphaned_waits_give(struct orphaned_waits *orphans, const struct wait_sink *sink, pid_t pid,
			 wait_place place);
/* Gives out all, without a place. */
void orphaned_waits_give_all(struct orphaned_waits *orphans, const struct wait_sink *sink);

#endif
