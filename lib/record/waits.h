/*
 * Waiting: turns records of context switches into the time that threads had no CPU, and looks at
 * threads while they wait, so that this time gets stacks.
 *
 * Records say when: a thread is off the CPU from one record of a switch to the next. A look says
 * where (waiting/lookers.h): the stack of a thread that does not run does not change, so one look
 * is true for the whole wait if no record of a switch lies between the wait's beginning and the
 * look's end. That is known as soon as all records up to that time were read.
 *
 * Waits that are longer than the pause between two rounds of looks are met for certain. Of shorter
 * ones each is met with a probability in proportion to its length, as samples meet functions; one
 * that was met stands for the time of those before it that were not. So the sum of a thread's
 * weights is exactly the time that it was off the CPU, and shares are true.
 *
 * The end of a wait, in which the thread could run but had no CPU yet, is known from its
 * /proc/TID/schedstat, and becomes the leaf [wanted a CPU]; so does the time after it was
 * preempted.
 *
 * Rounds come every millisecond while anything happens, and less often the longer nothing does:
 * thousands of sleeping threads are looked at once and cost nothing after that.
 */
#ifndef PROF_RECORD_WAITS_H
#define PROF_RECORD_WAITS_H

#include "perf/record.h"
#include "profile/quality.h"
#include "record/session.h"

struct waits;

struct waits_options {
	uint64_t tick_ns;  /* between two rounds of looks while something happens */
	uint64_t least_ns; /* shorter waits are left out of the profile */
	unsigned event;	   /* "off-cpu": as session_add_event() has numbered it */
	bool wants_kernel_stacks;
	bool follows_forks;
	bool ignores_idle; /* leaves out threads that hardly ran */
};

/* session is borrowed. NULL: the system lacks the resources. */
struct waits *waits_new(const struct waits_options *options, struct session *session);
void waits_free(struct waits *waits);
DEFINE_CLEANUP(waits, waits_free)

/* Waiting counts from waits_resume() to waits_pause(); at first it does not. Records must come all
 * the time (thread_times_pause()); threads are not looked at during a pause. */
void waits_pause(struct waits *waits, uint64_t now_ns);
void waits_resume(struct waits *waits, uint64_t now_ns);

/* A thread that was there before the records; its life in the recording begins at this time. */
void waits_add_thread(struct waits *waits, pid_t pid, pid_t tid, uint64_t time_ns);

/* Takes the next record, before the session … */
void waits_feed(struct waits *waits, const struct record *record);
/* … and after it. */
void waits_feed_again(struct waits *waits, const struct record *record);

/* The thread leaves its CPU with this stack: a sample tells (switch_stacks.h). Comes before the
 * record of the switch. */
void waits_feed_leaving(struct waits *waits, pid_t tid, uint64_t time_ns, stack_id stack);
/* Whether this thread's waiting is recorded. */
bool waits_know(const struct waits *waits, pid_t tid);
/* The thread was woken then; waker: wait_stack_of_waker(). Comes between the records in the order
 * of time. */
void waits_feed_wakeup(struct waits *waits, pid_t woken, uint64_t time_ns, stack_id waker);

/*
 * After a batch of records: all up to complete_ns were fed. Takes the looks that have ended, and
 * asks for others if a round is due. Returns when to call it next, at the latest.
 */
uint64_t waits_tick(struct waits *waits, uint64_t now_ns, uint64_t complete_ns);

/*
 * Adds to the profile what is known up to now_ns, and sorts its intervals; threads that still wait
 * have waited until then. is_end: the profile ends.
 */
void waits_settle(struct waits *waits, uint64_t now_ns, bool is_end);
/* After it was settled to its end, the session has got another profile, or is another one. */
void waits_begin_profile(struct waits *waits, struct session *session);

/* A process that the kernel did not let be looked at since the last call; 0: none. */
pid_t waits_take_refused(struct waits *waits);

/* Of the profile so far. */
struct waiting_quality waits_quality(const struct waits *waits);

#endif
