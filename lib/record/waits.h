/*
 * Measures off-CPU time: computes from context-switch records when threads had
 * no CPU, and takes snapshots of waiting threads to add stacks to that time.
 *
 * The time is exact: a thread is off the CPU from one switch record to the
 * next. The stack comes from a thread snapshot (waiting/pollers.h). The stack
 * of a thread does not change while it does not run. A snapshot is therefore
 * valid for the whole wait if no switch record lies between the start of the
 * wait and the end of the snapshot. This is known when all records up to that
 * time were read.
 *
 * Each wait longer than the interval between two polls gets a snapshot. A
 * shorter wait gets one with a probability proportional to its length, like a
 * function that is sampled. It then also stands for the time of the preceding
 * waits without a snapshot. So the weights of a thread add up to exactly its
 * off-CPU time, and shares are unbiased.
 *
 * At the end of a wait a thread is runnable but has no CPU yet. This time is
 * known from /proc/TID/schedstat and gets the leaf [runnable], as does the
 * time after a preemption.
 *
 * Threads are polled every millisecond while anything happens, and less often
 * the longer nothing does. Thousands of sleeping threads get one snapshot each
 * and cost nothing after that.
 */
#ifndef PROF_RECORD_WAITS_H
#define PROF_RECORD_WAITS_H

#include "perf/record.h"
#include "profile/quality.h"
#include "record/session.h"

struct waits;

struct waits_options {
	uint64_t tick_ns;	     /* polling interval while something happens */
	uint64_t least_ns;	     /* shorter waits are omitted from the profile */
	unsigned event;		     /* "off-cpu": the number that session_add_event() assigned */
	struct scripts *scripts;     /* borrowed; NULL to read no interpreter's frames */
	bool has_elapsed;	     /* add the event elapsed, too (elapsed.h) */
	bool finds_critical_path;    /* and the event critical-path */
	const char *critical_thread; /* see record_config */
	bool wants_kernel_stacks;
	bool follows_forks;
	bool ignores_idle; /* omit threads that hardly ran */
};

/* Borrows the session. Returns NULL if the system lacks the resources. */
struct waits *waits_new(const struct waits_options *options, struct session *session);
void waits_free(struct waits *waits);
DEFINE_CLEANUP(waits, waits_free)

/*
 * Off-CPU time counts between waits_resume() and waits_pause(), and not before
 * the first waits_resume(). Records must be fed during a pause, too
 * (thread_times_pause()). No snapshots are taken then.
 */
void waits_pause(struct waits *waits, uint64_t now_ns);
void waits_resume(struct waits *waits, uint64_t now_ns);

/* Adds a thread that existed before the records. Its recorded life starts at
 * time_ns. */
void waits_add_thread(struct waits *waits, pid_t pid, pid_t tid, uint64_t time_ns);

/* Takes the next record before the session does. */
void waits_feed(struct waits *waits, const struct record *record);
/* Takes the same record after the session. */
void waits_feed_again(struct waits *waits, const struct record *record);

/* The thread leaves its CPU with this stack, according to a sample
 * (switch_stacks.h). lacks_script: without the functions of its script. Must be
 * called before the record of the switch is fed. */
void waits_feed_leaving(struct waits *waits, pid_t tid, uint64_t time_ns, stack_id stack,
			bool lacks_script);
/* Whether the off-CPU time of this thread is recorded. */
bool waits_know(const struct waits *waits, pid_t tid);
/* The thread was woken at time_ns. waker is from wait_stack_of_waker(),
 * waker_tid is 0 for an interrupt. Must be called between the records, in time order. */
void waits_feed_wakeup(struct waits *waits, pid_t woken, uint64_t time_ns, stack_id waker,
		       pid_t waker_tid);

/*
 * Must be called after a batch of records. All records up to complete_ns were
 * fed. Takes the finished snapshots and requests others if a poll is due.
 * Returns the latest time of the next call.
 */
uint64_t waits_tick(struct waits *waits, uint64_t now_ns, uint64_t complete_ns);

/*
 * Adds what is known up to now_ns to the profile, whose intervals are unsorted.
 * Threads that still wait have waited until then. is_end is set if the profile
 * ends.
 */
void waits_settle(struct waits *waits, uint64_t now_ns, bool is_end);
/* Must be called after the end of a profile was settled, when the session got
 * another profile or was replaced. */
void waits_begin_profile(struct waits *waits, struct session *session);

/* Returns a process whose snapshot the kernel refused since the last call, or
 * 0. */
pid_t waits_take_refused(struct waits *waits);

/* Returns why the profile that was settled lacks its critical path, or NULL. */
char *waits_critical_path_problem(const struct waits *waits);
/* Returns the quality of the current profile. */
struct waiting_quality waits_quality(const struct waits *waits);

#endif
