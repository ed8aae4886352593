/*
 * What prof says at the end: the hottest functions, what was lost or has no name and why, what the
 * recording cost, where the files are and what opens them.
 */
#ifndef PROF_CMD_SUMMARY_H
#define PROF_CMD_SUMMARY_H

#include "cmd/output.h"
#include "record/quality.h"
#include "symbol/symbolizer.h"

struct summary {
	const struct profile *profile;
	const struct quality *quality;
	const struct symbolize_outcome *naming;
	const struct output *outputs;
	size_t output_count;
	bool reading;		  /* the samples came from a file */
	uint64_t sampling_cpu_ns; /* of prof itself, until the last sample */
	bool verbose;
	/* What is not sampled and what would sample it: "time in the kernel; …"; NULL: unknown. */
	const char *unsampled_hint;
	bool explains_emptiness; /* a message has told why there are no samples */
};

void summary_print(const struct summary *summary);

/* Only where the files are and what opens them. */
void summary_print_files(const struct output *outputs, size_t count);

#endif
