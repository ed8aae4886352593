/*
 * Which processes of the target are sampled, where those that begin later have to be looked for:
 * a process is opened once, and its children have inherited that.
 *
 * Where the kernel's records follow the rule (sampler_facts.follows_rule), nothing here is needed.
 */
#ifndef PROF_RECORD_ARRIVALS_H
#define PROF_RECORD_ARRIVALS_H

#include "base/idmap.h"
#include "perf/record.h"

/* Zeroed: none is sampled. */
struct arrivals {
	struct idmap sampled; /* processes */
};

void arrivals_deinit(struct arrivals *arrivals);

void arrivals_add(struct arrivals *arrivals, pid_t pid);
/* The next record of the sampled processes: FORK tells of children. */
void arrivals_feed(struct arrivals *arrivals, const struct record *record);
/* Forgets processes that have ended, so that the next ones may have their numbers. */
void arrivals_forget_ended(struct arrivals *arrivals);
/* Of a process that was seen to run before all records up to then were fed. */
bool arrivals_is_sampled(const struct arrivals *arrivals, pid_t pid);

#endif
