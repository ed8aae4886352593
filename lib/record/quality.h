/*
 * Computes the quality of a recording: which samples were lost, truncated or are in functions
 * without a symbol, and which modules lack symbols.
 */
#ifndef PROF_RECORD_QUALITY_H
#define PROF_RECORD_QUALITY_H

#include "profile/profile.h"
#include "record/balance.h"
#include "record/session.h"

struct unnamed_module {
	uint32_t module;
	uint64_t samples; /* in functions of it without a symbol; 0: those are only callers */
};

struct quality {
	struct profile_quality counts;
	struct event_quality *events;	/* counts.events */
	struct unnamed_module *modules; /* of frames without a name, the costliest first */
	size_t module_count;
};

/* balance: of a live recording, settled; NULL: it is unknown what was counted. */
void quality_init(struct quality *quality, const struct profile *profile,
		  const struct session_counts *counts, const struct balance *balance);
void quality_deinit(struct quality *quality);

/* The share of the samples that are "lost", "truncated" or "unknown" (in functions without a
 * symbol), or that of the sampled allocations if it is greater; of what was counted of the event
 * that lacks most that is "unsampled", or of the waiting time that is "placeless" (without a
 * stack); false for any other name. */
bool quality_share(const struct quality *quality, const char *name, double *ret);

#endif
