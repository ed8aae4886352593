/*
 * The part of a recorder that records where tasks of tokio wait (lib/tasks): the samples of the
 * event "await". It tells the watcher which processes belong to the target, and adds what the
 * watcher has found to the profile: a frame for each future, from the task's own to what it awaits,
 * with the line of the await.
 *
 * All functions take NULL for a recording without it, and do nothing.
 */
#ifndef PROF_RECORD_AWAITS_H
#define PROF_RECORD_AWAITS_H

#include "record/config.h"
#include "record/session.h"

struct awaits;

/* All borrowed. */
struct awaits_options {
	const struct record_config *config;
	const struct listener *listener;
	unsigned event; /* as session_add_event() has numbered it */
};

/* *ret is NULL if config does not record it. */
MUST_CHECK struct error *awaits_open(const struct awaits_options *options, struct awaits **ret);
void awaits_close(struct awaits *awaits);

/* Adds the processes of the target that are there; a command only if it has been executed. */
void awaits_add_target(struct awaits *awaits, bool has_executed);
/* Waiting counts from here … */
void awaits_resume(struct awaits *awaits);
/* … to here. */
void awaits_pause(struct awaits *awaits);
/* Processes that begin, and what they execute. */
void awaits_feed(struct awaits *awaits, const struct record *record);
/* Adds what was found since the last call. */
void awaits_settle(struct awaits *awaits, struct session *session);
/* The session has other modules. */
void awaits_forget_modules(struct awaits *awaits);
/* Tells the listener what is missing. */
void awaits_tell(struct awaits *awaits);

#endif
