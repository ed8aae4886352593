/*
 * Where the records of a recording come from: perf's sampler; or libprof-inside.so in the program
 * (inside/source.h); or the sampler and, beside it, the allocations that the library samples. In
 * the last case the records of both come merged, in the order of their times.
 *
 * Memory alone takes the library alone, and needs no perf event. CPU time takes the sampler; if the
 * kernel refuses perf events and config->via allows it, the library, at the rate of its timers.
 */
#ifndef PROF_RECORD_INTAKE_H
#define PROF_RECORD_INTAKE_H

#include "inside/source.h"
#include "perf/sampler.h"
#include "record/config.h"
#include "record/sampling.h"
#include "record/session.h"

struct intake;

/*
 * As sampler_open(). sampling: the events to sample; where the library samples in place of perf,
 * they become CPU time at the library's rate. The listener gets notices of what differs from the
 * request. All are borrowed.
 */
MUST_CHECK struct error *intake_open(const struct record_config *config,
				     const struct listener *listener, struct sampling *sampling,
				     struct intake **ret);
void intake_close(struct intake *intake);

/* NULL: the library alone gives the records. */
struct sampler *intake_sampler(const struct intake *intake);
/* Whether the program has to load the library. */
bool intake_needs_library(const struct intake *intake);
/* Of the library alone, only what it has in common with a sampler: no descriptors and no rings. */
const struct sampler_facts *intake_facts(const struct intake *intake);
/* How the library samples, for the profile: lines, or nothing. Borrowed. */
const char *intake_remarks(const struct intake *intake);
/* NULL without the library. */
struct inside_source *intake_library(const struct intake *intake);
/* Zeroes without the library. */
struct inside_counts intake_inside(const struct intake *intake);
/* As sampler_counted(); the library counts nothing. */
bool intake_counted(const struct intake *intake, unsigned event, uint64_t *ret);

/* To be called when recording starts, enabled or paused. */
void intake_start(struct intake *intake);
/* As sampler_enable(), sampler_pause(), sampler_disable() and sampler_add_command(). */
MUST_CHECK struct error *intake_enable(struct intake *intake);
void intake_pause(struct intake *intake);
void intake_disable(struct intake *intake);
void intake_add_command(struct intake *intake, pid_t pid);
/* As sampler_add_process(). */
MUST_CHECK bool intake_add_process(struct intake *intake, pid_t pid);
/* As sampler_end_switches(). */
void intake_end_switches(struct intake *intake);

/* Readable when records are worth reading; -1: they are read by time. */
int intake_fd(const struct intake *intake);
/* As sampler_batch(), sampler_next() and sampler_complete_ns(). */
void intake_batch(struct intake *intake);
bool intake_next(struct intake *intake, struct record *ret);
uint64_t intake_complete_ns(const struct intake *intake);
/* Whether records can be kept: those of the library cannot. */
bool intake_may_keep(const struct intake *intake);
/* As sampler_keep() and sampler_end_keeping(). */
void intake_keep(struct intake *intake);
void intake_end_keeping(struct intake *intake);

/* As those of pacing.h. */
void intake_after_record(struct intake *intake, const struct record *record,
			 const struct session *session);
void intake_after_batch(struct intake *intake, const struct session *session, uint64_t now_ns);
void intake_skip(struct intake *intake, uint64_t paused_ns);
void intake_restart(struct intake *intake);
/* The latest time of the next batch. */
uint64_t intake_next_ns(const struct intake *intake, uint64_t now_ns);
/* As pacing_rests_until_ns(). */
uint64_t intake_rests_until_ns(struct intake *intake, uint64_t now_ns);

#endif
