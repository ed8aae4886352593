/*
 * The perf.data among the outputs: gets the records themselves, while they come. The other outputs
 * are written from the profile, at the end.
 */
#ifndef PROF_CMD_RAW_OUTPUT_H
#define PROF_CMD_RAW_OUTPUT_H

#include "cmd/delivery.h"
#include "perf/perfdata_writer.h"
#include "perf/sampler.h"
#include "proc/names.h"
#include "proc/space.h"

#include <sys/types.h>

/* Zeroed: there is none, and all of these do nothing. */
struct raw_output {
	struct output *output;
	struct written_event *events;
	struct perfdata_writer *writer; /* NULL until it has begun */
};

/* The one that was asked for; two are an error about the words. outputs must stay where they are.
 */
MUST_CHECK struct error *raw_output_find(struct raw_output *raw, struct outputs *outputs);
/* Discards what was not ended. */
void raw_output_deinit(struct raw_output *raw);

MUST_CHECK struct error *raw_output_begin(struct raw_output *raw, const struct sampler *sampler,
					  const struct event *events, size_t event_count);
/* What was there before the recording: the mappings of a process and the names of its threads. */
void raw_output_add_process(struct raw_output *raw, struct names *names, pid_t pid);
void raw_output_put(struct raw_output *raw, const struct record *record);
/* All rings have been read once. */
void raw_output_end_round(struct raw_output *raw);
/* The rest of the file, which is put in its place. spaces: for the build-ids. */
MUST_CHECK struct error *raw_output_end(struct raw_output *raw, const struct spaces *spaces,
					const char *command);

#endif
