/*
 * What prof says at the end: the hottest functions, what was lost, what has no name and why, what
 * it cost, where the files are.
 */
#ifndef PROF_CMD_SUMMARY_H
#define PROF_CMD_SUMMARY_H

#include "cmd/output.h"
#include "session.h"
#include "symbol/symbolizer.h"

struct summary {
	const struct profile *profile;
	const struct session_counts *counts;
	const struct symbolize_outcome *naming;
	const struct output *outputs;
	size_t output_count;
	bool verbose;
};

/* One line on how far the profile can be trusted, for the outputs and the summary. Owned by the
 * caller. */
char *summary_quality(const struct profile *profile, const struct session_counts *counts);

void summary_print(const struct summary *summary);

#endif
