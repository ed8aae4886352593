/*
 * Completes the profile of a recording: of one that has ended, or in a forked child as it is by
 * now.
 */
#ifndef PROF_CMD_RECORD_COMPLETION_H
#define PROF_CMD_RECORD_COMPLETION_H

#include "cmd/record_options.h"
#include "cmd/recording.h"
#include "record/finalize.h"
#include "record/history.h"

/* All borrowed. */
struct record_completion {
	struct recording *recording;
	struct record_options *options; /* the output's event is chosen */
	char **words;			/* prof's own */
	int word_count;
	const struct history *history; /* of the last seconds, which the profile is of; or NULL */
	struct symbolizer *symbolizer; /* as in finalize_options */
	uint64_t sampling_cpu_ns;
	const char *reason;   /* why it is written; NULL: the recording has ended */
	bool keeps_addresses; /* as in finalize_options */
	bool is_snapshot;     /* this process is a forked child; its parent goes on recording … */
	bool ends_profile;    /* … with a new profile */
	bool shows_progress;
};

void record_complete(const struct record_completion *completion, struct finalize_result *ret);

#endif
