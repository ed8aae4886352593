/*
 * The source of a recording's records: perf's sampler, the preloaded agent
 * (inside/source.h), or both. With both, the agent samples only allocations,
 * and the records are merged in time order.
 *
 * A recording of memory alone uses only the agent and needs no perf events. CPU
 * time uses the sampler. If the kernel refuses perf events and
 * config->events.via permits it, the agent samples CPU time at the rate of its
 * timers.
 */
#ifndef PROF_RECORD_RECORDING_SOURCE_H
#define PROF_RECORD_RECORDING_SOURCE_H

#include "inside/source.h"
#include "perf/sampler.h"
#include "record/config.h"
#include "record/sampling.h"
#include "record/session.h"

struct recording_source;

/*
 * Opens the source: see sampler_open(). sampling contains the events to sample.
 * If the agent replaces perf, the events are replaced by CPU time at the
 * agent's rate. Reports to the listener what differs from the request. All
 * pointers are borrowed.
 */
MUST_CHECK struct error *recording_source_open(const struct record_config *config,
					       const struct listener *listener,
					       struct sampling *sampling,
					       struct recording_source **ret);
void recording_source_close(struct recording_source *source);

/* Returns NULL if all records come from the agent. */
struct sampler *recording_source_sampler(const struct recording_source *source);
/* Whether the program must load the agent. */
bool recording_source_needs_library(const struct recording_source *source);
/* If all records come from the agent, only the facts that apply to it are set:
 * no descriptors and no rings. */
const struct sampler_facts *recording_source_facts(const struct recording_source *source);
/* Describes how the agent samples, for the profile: lines, or NULL.
 * Borrowed. */
const char *recording_source_remarks(const struct recording_source *source);
/* Returns NULL without the agent. */
struct inside_source *recording_source_library(const struct recording_source *source);
/* Returns zeros without the agent. */
struct inside_counts recording_source_inside(const struct recording_source *source);
/* See sampler_counted(). The agent has no counts. */
bool recording_source_counted(const struct recording_source *source, unsigned event, uint64_t *ret);

/* Must be called when recording starts, enabled or paused. */
void recording_source_start(struct recording_source *source);
/* See sampler_enable(), sampler_pause(), sampler_disable() and
 * sampler_add_command(). */
MUST_CHECK struct error *recording_source_enable(struct recording_source *source);
void recording_source_pause(struct recording_source *source);
void recording_source_disable(struct recording_source *source);
void recording_source_add_command(struct recording_source *source, pid_t pid);
/* See sampler_add_process(). */
MUST_CHECK bool recording_source_add_process(struct recording_source *source, pid_t pid);
/* See sampler_end_switches(). */
void recording_source_end_switches(struct recording_source *source);

/* Readable when there are enough records to read. Returns -1 if records are
 * read at intervals. */
int recording_source_fd(const struct recording_source *source);
/* See sampler_batch(), sampler_next() and sampler_complete_ns(). */
void recording_source_batch(struct recording_source *source);
bool recording_source_next(struct recording_source *source, struct record *ret);
uint64_t recording_source_complete_ns(const struct recording_source *source);

/* See the functions of pacing.h. */
void recording_source_after_record(struct recording_source *source, const struct record *record,
				   const struct session *session);
void recording_source_after_batch(struct recording_source *source, const struct session *session,
				  uint64_t now_ns);
void recording_source_skip(struct recording_source *source, uint64_t paused_ns);
void recording_source_restart(struct recording_source *source);
/* Returns the latest time of the next batch. */
uint64_t recording_source_next_ns(const struct recording_source *source, uint64_t now_ns);
/* See pacing_throttled_until_ns(). */
uint64_t recording_source_throttled_until_ns(struct recording_source *source, uint64_t now_ns);

#endif
