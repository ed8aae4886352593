/*
 * Events of what CPUs record beside samples: the branches taken before each of them (Intel's LBR
 * and its kin), and how long an access to memory took (PEBS, IBS, SPE).
 *
 * A branch has a stack of two frames, the instruction that branches and, as its callee, the one
 * that it goes to. The label "branch" says whether the CPU predicted it; "branch_type" and
 * "transaction" are there if that was recorded. So go tool pprof draws where control flows from and
 * to, and any reader that knows labels counts mispredictions. The cycles of a branch are the time
 * since the one before it, in an event of their own at the same stack and labels. The cycles of an
 * access are at the stack of its sample.
 */
#ifndef PROF_PROFILE_CPU_RECORDS_H
#define PROF_PROFILE_CPU_RECORDS_H

#include "profile/profile.h"

enum cpu_record {
	CPU_BRANCHES,	    /* "taken-branches" */
	CPU_BRANCH_CYCLES,  /* "branch-cycles" */
	CPU_MEMORY_LATENCY, /* "mem-latency", in cycles */
};
#define CPU_RECORDS (CPU_MEMORY_LATENCY + 1)

/* The label of a branch and its values; a branch without it: the CPU does not say. */
#define BRANCH_LABEL "branch"
#define BRANCH_PREDICTED "predicted"
#define BRANCH_MISPREDICTED "mispredicted"

const char *cpu_record_name(enum cpu_record which);
/* Adds the event to the profile if it has none. */
event_id cpu_record_event(struct profile *profile, enum cpu_record which);
/* The profile's event that is `which`. Returns false if it has none. */
bool cpu_record_find(const struct profile *profile, enum cpu_record which, event_id *ret);
/* Whether an event of the profile is one of them. */
bool cpu_record_is(const struct profile *profile, event_id event);

#endif
