/*
 * What a recording samples: the events with their rates, and the target that they are opened on.
 */
#ifndef PROF_RECORD_SAMPLING_H
#define PROF_RECORD_SAMPLING_H

#include "perf/sampler.h"
#include "record/config.h"
#include "record/probes.h"

struct sampling {
	struct pmus pmus;
	struct probes probes;
	struct event *events;
	size_t event_count;
	uint64_t max_hz;     /* the kernel's limit; 0: unknown */
	uint64_t lowered_hz; /* an event's own frequency, which was above it; or 0 */
	const char *reason;  /* why the default is not cycles; NULL: it is, or events were named */
};

/* Parses the events of config, or chooses one if any is to be sampled. sampling_deinit() is needed
 * in every case. */
MUST_CHECK struct error *sampling_choose(struct sampling *sampling,
					 const struct record_config *config);
void sampling_deinit(struct sampling *sampling);

/* What is sampled; borrows the lists of config. */
struct target sampling_target(const struct record_config *config);

/* Sets what the samples of each event hold; sampling_open() does it. */
void sampling_set_fields(struct sampling *sampling, const struct record_config *config);
MUST_CHECK struct error *sampling_open(struct sampling *sampling,
				       const struct record_config *config, struct sampler **ret);

/* What the samples of an event that prof adds hold, for whole stacks: at most so many bytes of
 * copy. */
struct sample_fields sampling_stack_fields(const struct record_config *config, uint32_t most_bytes);

/* The library samples in place of perf: CPU time, the only event, at this rate. */
void sampling_of_library(struct sampling *sampling, uint32_t cpu_hz);

/* Gives the listener a notice of each way in which what was opened differs from the request. */
void sampling_notice(const struct sampling *sampling, const struct record_config *config,
		     const struct sampler *sampler, const struct listener *listener);

#endif
