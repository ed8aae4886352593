/*
 * Completes the profile of a recording, either when the recording has ended, or
 * in a forked child with the samples so far.
 */
#ifndef PROF_CMD_RECORD_RECORD_COMPLETION_H
#define PROF_CMD_RECORD_RECORD_COMPLETION_H

#include "cmd/record/record_options.h"
#include "cmd/record/recording.h"
#include "record/finalize.h"
#include "record/history.h"

/* All members are borrowed. */
struct record_completion {
	struct recording *recording;
	struct record_options *options; /* the event of the output is chosen */
	char **words;			/* prof's command line */
	int word_count;
	/* the last seconds, which the profile is made of; or NULL */
	const struct history *history;
	struct symbolizer *symbolizer; /* as in finalize_options */
	uint64_t sampling_cpu_ns;
	/* why the profile is written; NULL if the recording has ended */
	const char *reason;
	bool keeps_addresses; /* as in finalize_options */
	/* this process is a forked child whose parent continues to record */
	bool is_snapshot;
	bool ends_profile; /* the parent continues with a new profile */
	bool shows_progress;
};

void record_complete(const struct record_completion *completion, struct finalize_result *ret);

#endif
