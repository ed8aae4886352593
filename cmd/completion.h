/*
 * What a profile still lacks when the last sample has come: the names of its frames, and what it
 * says about itself.
 */
#ifndef PROF_CMD_COMPLETION_H
#define PROF_CMD_COMPLETION_H

#include "cmd/quality.h"
#include "cmd/signals.h"
#include "symbol/symbolizer.h"

/* All borrowed. */
struct completion {
	struct session *session;
	struct profile *profile;
	struct spaces *spaces;
	const struct signals *signals; /* one cuts naming short; NULL: they are not looked after */
	const char *debug_dir;
	const char *proc; /* as in symbolize_options */
	bool inlines;
	bool shows_progress;
	struct profile_info info; /* but for the quality, which is found out here */
};

/* How it went. */
struct completeness {
	struct symbolize_outcome naming;
	struct quality quality;
};

void profile_complete(const struct completion *completion, struct completeness *ret);
/* A zeroed one has nothing to free. */
void completeness_deinit(struct completeness *completeness);

#endif
