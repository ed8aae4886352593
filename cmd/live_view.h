/*
 * The recent past of a recording that goes on: its profile is symbolized while it grows, and older
 * samples decay.
 */
#ifndef PROF_CMD_LIVE_VIEW_H
#define PROF_CMD_LIVE_VIEW_H

#include "cmd/recording.h"
#include "report/recent.h"
#include "symbol/symbolizer.h"

struct live {
	struct recording recording; /* set up before live_open() */
	struct symbol_options symbols;

	struct symbolizer *symbolizer;
	struct recent *recent;
	uint64_t refreshed_ns;
	bool reads_on;			      /* while frames are symbolized */
	struct session_counts before;	      /* counted by sessions that have been renewed */
	struct waiting_quality waited_before; /* the same of profiles that have been rotated */
};

/* After recording_open(). */
void live_open(struct live *live);
void live_close(struct live *live);

/* Reads records, symbolizes new frames, and counts new samples as recent. */
void live_refresh(struct live *live);
/* Ignores what has been counted since the last refresh. */
void live_skip(struct live *live);

/* Forgets everything that was counted until now. */
void live_forget(struct live *live);

const struct profile *live_profile(const struct live *live);
/* Since the start. */
struct session_counts live_counts(const struct live *live);
/* The same in words: "12,345 samples, 0 lost". To be freed. */
char *live_summary(const struct live *live);
/* Where the time of all threads went since the start: "3.10 s CPU, 400 ms wanted a CPU, 44.5 s
 * waiting". To be freed. NULL: waiting is not recorded. */
char *live_times(const struct live *live);

#endif
