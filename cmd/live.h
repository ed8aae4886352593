/*
 * What is sampled now: a recording that goes on, whose profile is named as it grows and looked at
 * by its recent past.
 */
#ifndef PROF_CMD_LIVE_H
#define PROF_CMD_LIVE_H

#include "cmd/recording.h"
#include "report/recent.h"
#include "symbol/symbolizer.h"

struct live {
	struct recording recording; /* options, signals and command are set before live_open() */
	const char *debug_dir;
	bool no_inline;

	struct symbolizer *symbolizer;
	struct recent *recent;
	uint64_t refreshed_ns;
	bool reads_on;		      /* while naming is at work */
	struct session_counts before; /* counted by sessions that have been renewed */
};

/* After recording_open(). */
void live_open(struct live *live);
void live_close(struct live *live);

/* Names what is new, and counts it as recent. Records go on being read meanwhile. */
void live_refresh(struct live *live);
/* What has been counted since the last refresh is passed over. */
void live_skip(struct live *live);

/* Nothing that was counted until now is recent any more. */
void live_forget(struct live *live);

const struct profile *live_profile(const struct live *live);
/* Since the start. */
struct session_counts live_counts(const struct live *live);

#endif
