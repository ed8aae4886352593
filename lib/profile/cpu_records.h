/*
 * Events that CPUs record in addition to samples: the branches taken before
 * each sample (LBR and similar), and the latency of memory accesses (PEBS, IBS,
 * SPE).
 *
 * A branch has a stack of two frames: the branch instruction and, as its
 * callee, the target. The label "branch" contains whether the CPU predicted it.
 * The labels "branch_type" and "transaction" exist if they were recorded. Thus
 * go tool pprof draws the control flow, and every reader that supports labels
 * can count mispredictions. The cycles of a branch are the time since the
 * previous branch. They are an event of their own with the same stacks and
 * labels. The latency of an access, in cycles, has the stack of its sample.
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

/*
 * The label of a branch and its values. A branch lacks it if the CPU does not
 * report predictions.
 */
#define BRANCH_LABEL "branch"
#define BRANCH_PREDICTED "predicted"
#define BRANCH_MISPREDICTED "mispredicted"

const char *cpu_record_name(enum cpu_record which);
/* Returns the event; adds it if the profile lacks it. */
event_id cpu_record_event(struct profile *profile, enum cpu_record which);
/* Stores the id of the event. Returns false if the profile lacks it. */
bool cpu_record_find(const struct profile *profile, enum cpu_record which, event_id *ret);
/* Returns whether an event of the profile is one of enum cpu_record. */
bool cpu_record_is(const struct profile *profile, event_id event);

#endif
