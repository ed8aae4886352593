/*
 * The events of a recording with their rates, and the target that they are
 * opened on.
 */
#ifndef PROF_RECORD_SAMPLING_H
#define PROF_RECORD_SAMPLING_H

#include "perf/sampler.h"
#include "record/config.h"
#include "record/probes.h"
#include "runtime/scripts.h"

struct sampling {
	struct pmus pmus;
	struct probes probes;
	struct event *events;
	size_t event_count;
	uint64_t max_hz;     /* the kernel's limit; 0 if unknown */
	uint64_t lowered_hz; /* an event's frequency that was above the limit; else 0 */
	bool expects_script;
	struct scripts *scripts; /* NULL if no interpreter's frames are read */
	const char *reason;	 /* why the default is not cycles; NULL for named events */
};

/* Parses the events of config, or chooses one if none is named. Always call
 * sampling_deinit(), also after an error. */
MUST_CHECK struct error *sampling_choose(struct sampling *sampling,
					 const struct record_config *config);
void sampling_deinit(struct sampling *sampling);

/* Returns the target of config, whose lists it borrows. */
struct target sampling_target(const struct record_config *config);

/* Sets the sample fields of each event. sampling_open() calls it. */
void sampling_set_fields(struct sampling *sampling, const struct record_config *config);
MUST_CHECK struct error *sampling_open(struct sampling *sampling,
				       const struct record_config *config, struct sampler **ret);

/* Returns the sample fields for an event that prof adds, with whole stacks.
 * most_bytes limits the stack copy. */
struct sample_fields sampling_stack_fields(const struct record_config *config, uint32_t most_bytes);

/* Replaces all events by CPU time at this rate, sampled by the agent instead of
 * perf. */
void sampling_of_library(struct sampling *sampling, uint32_t cpu_hz);

/* Reports to the listener each difference between the opened events and the
 * request. */
void sampling_notice(const struct sampling *sampling, const struct record_config *config,
		     const struct sampler *sampler, const struct listener *listener);

#endif
