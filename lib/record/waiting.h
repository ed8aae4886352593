/*
 * Records off-CPU time with thread snapshots (waits.h), wakers (wakers.h) and,
 * where snapshots are refused, samples of context switches (switch_stacks.h).
 * Opens, drains and ends all of them.
 *
 * All functions accept NULL, for a recording without off-CPU time, and do
 * nothing then.
 */
#ifndef PROF_RECORD_WAITING_H
#define PROF_RECORD_WAITING_H

#include "base/loop.h"
#include "record/config.h"
#include "record/pipeline.h"

struct waiting;

/* All pointers are borrowed. */
struct waiting_options {
	const struct record_config *config;
	const struct listener *listener;
	const struct pmus *pmus;
	const struct pipeline *pipeline;
	struct scripts *scripts; /* may be NULL */
	unsigned event;		 /* "off-cpu": the number that session_add_event() assigned */
	struct loop *loop;
	loop_callback *step; /* called when there is something to read */
	void *user;
};

/* Sets *ret to NULL if config does not record off-CPU time. */
MUST_CHECK struct error *waiting_open(const struct waiting_options *options, struct waiting **ret);
/* The loop must not have been freed. */
void waiting_close(struct waiting *waiting);

/* Starts a paused recording at start_ns with the existing threads of the
 * target. Further calls add new threads. */
void waiting_begin(struct waiting *waiting, uint64_t start_ns);
/* Adds a process that joins the target at start_ns. */
void waiting_add_process(struct waiting *waiting, pid_t pid, uint64_t start_ns);
/* Off-CPU time counts from this call until waiting_pause() or waiting_end(). */
MUST_CHECK struct error *waiting_resume(struct waiting *waiting, uint64_t now_ns);
/* Stops counting until the next waiting_resume(). */
void waiting_pause(struct waiting *waiting, uint64_t now_ns);
/* Ends the recording. The records so far can still be read. */
void waiting_end(struct waiting *waiting);

/* Takes the next record before the session does. */
void waiting_feed(struct waiting *waiting, const struct record *record);
/* Takes the same record after the session. */
void waiting_feed_again(struct waiting *waiting, const struct record *record);
/* Must be called after a batch. All records up to complete_ns were fed. Returns
 * the latest time to read the next batch, or 0 for no limit. */
uint64_t waiting_end_batch(struct waiting *waiting, uint64_t now_ns, uint64_t complete_ns);

/* See waits_settle(), waits_begin_profile() and waits_quality(). */
void waiting_settle(struct waiting *waiting, uint64_t now_ns, bool is_end);
void waiting_begin_profile(struct waiting *waiting);
struct waiting_quality waiting_quality(const struct waiting *waiting);

#endif
