/*
 * Records where tokio tasks wait (lib/tasks), as samples of the event "await".
 *
 * Passes the processes of the target to the watcher of lib/tasks and adds its
 * results to the profile. A stack has a frame for each future, from the task's
 * own future to the one that it awaits, with the line of the await.
 *
 * All functions accept NULL, for a recording without this event, and do nothing
 * then.
 */
#ifndef PROF_RECORD_AWAITS_H
#define PROF_RECORD_AWAITS_H

#include "record/config.h"
#include "record/session.h"

struct awaits;

/* All pointers are borrowed. */
struct awaits_options {
	const struct record_config *config;
	const struct listener *listener;
	unsigned event; /* the number that session_add_event() assigned */
};

/* Sets *ret to NULL if config does not record awaits. */
MUST_CHECK struct error *awaits_open(const struct awaits_options *options, struct awaits **ret);
void awaits_close(struct awaits *awaits);

/* Adds the running processes of the target. A command is added only if
 * has_executed is set. */
void awaits_add_target(struct awaits *awaits, bool has_executed);
/* Adds a process that joins the target. */
void awaits_add_process(struct awaits *awaits, pid_t pid);
/* Waiting counts from this call until awaits_pause(). */
void awaits_resume(struct awaits *awaits);
/* Stops counting until the next awaits_resume(). */
void awaits_pause(struct awaits *awaits);
/* Takes the next record. Only those of new processes and of exec matter. */
void awaits_feed(struct awaits *awaits, const struct record *record);
/* Adds what was found since the last call. */
void awaits_settle(struct awaits *awaits, struct session *session);
/* Must be called when the session gets other modules. */
void awaits_forget_modules(struct awaits *awaits);
/* Reports to the listener what is missing. */
void awaits_tell(struct awaits *awaits);

#endif
