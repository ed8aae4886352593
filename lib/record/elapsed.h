/*
 * The event elapsed: its weights add up to the time that has passed, whatever
 * number of threads has run (waiting/elapsed_times.h).
 *
 * Each sample of the event has the label "parallelism": the number of threads
 * that ran at the time, or 0 if none did.
 *
 * The event critical-path is the chain of threads that the program's end waited
 * for. Its weights add up to the elapsed time, too (waiting/critical_path.h).
 */
#ifndef PROF_RECORD_ELAPSED_H
#define PROF_RECORD_ELAPSED_H

#include "perf/record.h"
#include "record/session.h"
#include "waiting/wait_part.h"

struct elapsed;

/* Borrows the session and critical_thread: the name or tid of the thread whose
 * end the critical path explains, or NULL for the main thread. */
struct elapsed *elapsed_new(struct session *session, bool finds_critical_path,
			    const char *critical_thread);
/* All functions accept NULL and then do nothing. */
void elapsed_free(struct elapsed *elapsed);

/* creator: the tid of the thread that created it, or 0. */
void elapsed_begin_thread(struct elapsed *elapsed, pid_t pid, pid_t tid, pid_t creator,
			  uint64_t time_ns);
/* Takes the next record before the session does, and again after it. */
void elapsed_feed(struct elapsed *elapsed, const struct record *record);
void elapsed_feed_again(struct elapsed *elapsed, const struct record *record);
/* waker: the tid of the thread that ended the wait of `woken`; 0 if it was no
 * thread. */
void elapsed_feed_wakeup(struct elapsed *elapsed, pid_t woken, uint64_t time_ns, pid_t waker);
/* A snapshot has found that the thread waits for another one: to end, or to
 * release the lock at this address; 0 for the former. */
void elapsed_feed_holder(struct elapsed *elapsed, pid_t tid, uint64_t time_ns, pid_t holder,
			 uint64_t lock);
/* A part of a wait, with its stack. */
void elapsed_feed_wait(struct elapsed *elapsed, const struct wait_part *part, stack_id stack);

void elapsed_pause(struct elapsed *elapsed, uint64_t now_ns);
void elapsed_resume(struct elapsed *elapsed, uint64_t now_ns);

/* Must be called before the waits up to now_ns are settled. */
void elapsed_begin_settling(struct elapsed *elapsed, uint64_t now_ns);
/* Must be called after that. */
void elapsed_settle(struct elapsed *elapsed, uint64_t now_ns, bool is_end);
/* See waits_begin_profile(). */
void elapsed_begin_profile(struct elapsed *elapsed, struct session *session);
/* Returns why the profile that was settled lacks its critical path, or NULL. */
char *elapsed_path_problem(const struct elapsed *elapsed);

#endif
