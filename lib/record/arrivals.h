/*
 * Keeps the set of processes that are sampled, so that a recording with a
 * process rule (process_choice.h) opens events on each new process once.
 * Children inherit the events of their parent.
 *
 * Not needed where whole CPUs are sampled and the rule is applied to the
 * records (sampler_facts.follows_rule).
 */
#ifndef PROF_RECORD_ARRIVALS_H
#define PROF_RECORD_ARRIVALS_H

#include "base/idmap.h"
#include "perf/record.h"

/* A zeroed set is empty. */
struct arrivals {
	struct idmap sampled; /* pids */
};

void arrivals_deinit(struct arrivals *arrivals);

void arrivals_add(struct arrivals *arrivals, pid_t pid);
/* Takes the next record of the sampled processes. A FORK record adds the
 * child. */
void arrivals_feed(struct arrivals *arrivals, const struct record *record);
/* Removes processes that have ended, so that a process that reuses a pid counts
 * as new. */
void arrivals_forget_ended(struct arrivals *arrivals);
/* Whether the process is sampled. All records up to the time at which the
 * process was seen must have been fed. */
bool arrivals_is_sampled(const struct arrivals *arrivals, pid_t pid);

#endif
