/*
 * Counts that a session keeps about its records.
 */
#ifndef PROF_RECORD_SESSION_COUNTS_H
#define PROF_RECORD_SESSION_COUNTS_H

#include "profile/quality.h"

struct session_counts {
	/* Does not include counts that are known at the end: unnamed,
	 * own_cpu_ns, events, waiting and stat. */
	struct profile_quality quality;
	uint64_t lost_allocations; /* sampled, but without room in the agent's buffer */
	uint64_t lost_switches;	   /* context-switch records that the kernel could not write */
	uint64_t other_values;	   /* samples with a label [other] (field_labels.h) */
	uint64_t lossy_processes;  /* that lost mappings; known at session_end() */
	uint64_t strays;	   /* user parts of call chains for which no sample was waiting */
	uint64_t user_stacks;	   /* samples that had a user stack to unwind */
	uint64_t chainless; /* truncated samples: the record with their user part is missing */
};

void session_counts_add(struct session_counts *sum, const struct session_counts *more);

#endif
