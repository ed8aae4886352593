/*
 * The recent past of a running recording: its profile is symbolized while it
 * grows, and older samples decay.
 */
#ifndef PROF_CMD_TOP_LIVE_VIEW_H
#define PROF_CMD_TOP_LIVE_VIEW_H

#include "cmd/record/recording.h"
#include "report/recent.h"
#include "symbol/symbolizer.h"

/* The sums of the samples of one event. */
struct live_use {
	uint64_t samples, weight;
	uint64_t sampled; /* the weight without that of unsampled time */
};

struct live {
	struct recording recording; /* set up before live_open() */
	struct symbol_options symbols;

	struct symbolizer *symbolizer;
	struct recent *recent;
	uint64_t refreshed_ns;
	/* since the profile was new; between the last two refreshes */
	struct live_use use, recent_use;
	uint64_t recent_ns;	      /* the time between the last two refreshes */
	bool reads_on;		      /* read records while frames are symbolized */
	struct session_counts before; /* counts of sessions that have been replaced */
	/* the same for profiles that have been rotated */
	struct waiting_quality waited_before;
};

/* Call it after recording_open(). */
void live_open(struct live *live);
void live_close(struct live *live);

/* Reads records, symbolizes new frames, and counts new samples as recent. */
void live_refresh(struct live *live);
/* Ignores the samples counted since the last refresh. */
void live_skip(struct live *live);

/* Discards all samples counted so far. */
void live_forget(struct live *live);

const struct profile *live_profile(const struct live *live);
/* Returns the counts since the start: "12,345 samples, 0 lost". The caller
 * frees the text. */
char *live_summary(const struct live *live);
/*
 * Returns how busy the target was between the last two refreshes: "1.43 of 8
 * CPUs busy, 98.5 % sampled". Without an event for CPU time, it is an
 * estimate from the sampling frequency: "about 1.4 of 8 CPUs busy". Returns NULL
 * if it is unknown. The caller frees the text.
 */
char *live_load(const struct live *live);
/*
 * Returns where the time of all threads went since the start: "3.10 s on CPU,
 * 400 ms runnable, 44.5 s waiting". Returns NULL if off-CPU time is not
 * recorded. The caller frees the text.
 */
char *live_times(const struct live *live);

#endif
