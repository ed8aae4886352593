/*
 * Computes the quality of a recording: which samples were lost, truncated, or
 * are in functions without a symbol, and which modules lack symbols.
 */
#ifndef PROF_RECORD_QUALITY_H
#define PROF_RECORD_QUALITY_H

#include "profile/profile.h"
#include "record/session.h"
#include "record/unsampled.h"

struct unnamed_module {
	uint32_t module;
	uint64_t samples; /* in its functions without a symbol; 0 if those functions are only
			     callers */
};

struct quality {
	struct profile_quality counts;
	struct event_quality *events;	/* counts.events */
	struct unnamed_module *modules; /* with unsymbolized frames, by samples */
	size_t module_count;
};

/* unsampled is that of a live recording, after unsampled_settle(). NULL if the
 * kernel's counts are unknown. */
void quality_init(struct quality *quality, const struct profile *profile,
		  const struct session_counts *counts, const struct unsampled *unsampled);
void quality_deinit(struct quality *quality);

/*
 * Stores the share that has this name and returns true. Returns false for an
 * unknown name.
 *
 *  - "lost", "truncated" and "unknown" (in functions without a symbol) are
 *    shares of the samples, or of the sampled allocations if that is greater.
 *  - "unsampled" is the unsampled share of the event for which it is highest.
 *  - "placeless" is the share of the off-CPU time that has no stack.
 */
bool quality_share(const struct quality *quality, const char *name, double *ret);

#endif
