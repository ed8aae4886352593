/*
 * The part of a recorder that records waiting: looks at threads (waits.h), who wakes them
 * (wakers.h) and, where looks are refused, samples of context switches (switch_stacks.h). It opens,
 * drains and ends them together.
 *
 * All functions take NULL for a recording without waiting, and do nothing.
 */
#ifndef PROF_RECORD_WAITING_H
#define PROF_RECORD_WAITING_H

#include "base/loop.h"
#include "record/config.h"
#include "record/pipeline.h"

struct waiting;

/* All borrowed. */
struct waiting_options {
	const struct record_config *config;
	const struct listener *listener;
	const struct pmus *pmus;
	const struct pipeline *pipeline;
	unsigned event; /* "off-cpu": as session_add_event() has numbered it */
	struct loop *loop;
	loop_callback *step; /* called when there is something to read */
	void *user;
};

/* *ret is NULL if config does not record waiting. */
MUST_CHECK struct error *waiting_open(const struct waiting_options *options, struct waiting **ret);
/* The loop must not have been freed. */
void waiting_close(struct waiting *waiting);

/* The recording begins, at start_ns, with the threads of the target that are there; paused. Called
 * again, it adds threads that are new. */
void waiting_begin(struct waiting *waiting, uint64_t start_ns);
/* Waiting counts from here … */
MUST_CHECK struct error *waiting_resume(struct waiting *waiting, uint64_t now_ns);
/* … to here, or to waiting_end(). */
void waiting_pause(struct waiting *waiting, uint64_t now_ns);
/* Lets the loop call back. */
MUST_CHECK struct error *waiting_watch(struct waiting *waiting);
/* The recording ends; what was recorded can still be read. */
void waiting_end(struct waiting *waiting);

/* Takes the next record, before the session … */
void waiting_feed(struct waiting *waiting, const struct record *record);
/* … and after it. */
void waiting_feed_again(struct waiting *waiting, const struct record *record);
/*
 * After a batch: all records up to complete_ns were fed. Returns when to read the next batch, at
 * the latest; 0: at any time.
 */
uint64_t waiting_end_batch(struct waiting *waiting, uint64_t now_ns, uint64_t complete_ns);

/* As waits_settle(), waits_begin_profile() and waits_quality(). */
void waiting_settle(struct waiting *waiting, uint64_t now_ns, bool is_end);
void waiting_begin_profile(struct waiting *waiting);
struct waiting_quality waiting_quality(const struct waiting *waiting);

#endif
