/*
 * Prints the summary at the end: the hottest functions, what was lost or has no
 * symbol and why, what the recording cost, the files, and the commands that
 * open them.
 */
#ifndef PROF_CMD_SUMMARY_H
#define PROF_CMD_SUMMARY_H

#include "output/output.h"
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
	/* The kind of time that was not sampled and the option that would
	 * sample it, such as "time in the kernel; …". NULL if unknown. */
	const char *unsampled_hint;
	/* a message has already explained why there are no samples */
	bool explains_emptiness;
	const char *runtimes; /* runtime_use_text(); may be NULL */
};

void summary_print(const struct summary *summary);

/* Prints only the files and the commands that open them. */
void summary_print_files(const struct output *outputs, size_t count);

#endif
