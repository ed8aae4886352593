/*
 * The times of threads: how long each ran, wanted a CPU, and waited, by records of its context
 * switches; and where it waited, by looks at it (look.h).
 *
 * A wait is the time from the switch that takes a thread from its CPU to the one that brings it
 * back. It is met if a look found the thread waiting and no record of a switch lies between its
 * start and the end of the look: the stack is then true of the whole wait. Waits that are not met
 * are shorter than the pause between two rounds of looks. One of these that is met stands for those
 * of the same thread since the last such one: each is met with a probability in proportion to its
 * length, so the weights of places are right on average, and their sum is exact. Waits of a thread
 * that has lived shortly and ended before any was met stand where the next such thread of its
 * process waited that ends.
 *
 * At the end of a wait the thread can run, but may have to wait for a CPU. Where it is known when
 * it was woken, this time is known exactly. Else /proc/TID/schedstat says how long all such times
 * of a thread were; they are taken from the waits that ended meanwhile.
 *
 * All times are of CLOCK_MONOTONIC. Records must come in order.
 */
#ifndef PROF_WAITING_THREAD_TIMES_H
#define PROF_WAITING_THREAD_TIMES_H

#include "base/cleanup.h"
#include "waiting/wait_part.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct thread_times;

/* least_ns: shorter waits are left out. */
struct thread_times *thread_times_new(uint64_t least_ns, struct wait_sink sink);
void thread_times_free(struct thread_times *times);
DEFINE_CLEANUP(thread_times, thread_times_free)

/* --- records --- */

enum thread_begin {
	THREAD_IS_THERE, /* and may run or wait */
	THREAD_RUNS,
	THREAD_IS_FORKED, /* it wants a CPU */
};

/* Without effect on a thread that is known, unless it is forked: then the one before has ended. */
void thread_times_begin(struct thread_times *times, pid_t pid, pid_t tid, uint64_t time_ns,
			enum thread_begin begin);
/* Of threads that have begun; others are ignored. */
void thread_times_switch(struct thread_times *times, pid_t tid, uint64_t time_ns, bool is_out,
			 bool is_preempted);
void thread_times_end(struct thread_times *times, pid_t tid, uint64_t time_ns);
/* The process executes another program, in this thread; the others have ended. */
void thread_times_exec(struct thread_times *times, pid_t pid, pid_t tid, uint64_t time_ns);
/* The switch that comes next takes it from its CPU here: if it then waits, no look is needed. */
void thread_times_leaves(struct thread_times *times, pid_t tid, wait_place place);
/* Whether the thread has begun, and has not ended. */
bool thread_times_knows(const struct thread_times *times, pid_t tid);
/* The wait that the thread is in was ended then, by this place. */
void thread_times_woken(struct thread_times *times, pid_t tid, uint64_t time_ns, wait_place place);
/* It ran at this place. */
void thread_times_sampled(struct thread_times *times, pid_t tid, uint64_t time_ns,
			  wait_place place);
/* Records of switches were lost before now: no wait is proved that lasts until now. */
void thread_times_lost(struct thread_times *times, uint64_t now_ns);

/*
 * Nothing is given out or added to the sums of what happens from a pause until the next
 * thread_times_resume(). Records of switches must still come, so that it is known what each thread
 * does when time counts again; looks may stop.
 */
void thread_times_pause(struct thread_times *times, uint64_t now_ns);
void thread_times_resume(struct thread_times *times, uint64_t now_ns);

/* --- looks --- */

struct wait_due {
	uint32_t thread; /* its number here, until thread_times_looked() */
	pid_t pid, tid;
	uint64_t since_ns;
};

/* Begins a round of looks at all threads that wait and were not looked at, or not since records
 * were lost. */
void thread_times_begin_round(struct thread_times *times, uint64_t now_ns);
/*
 * The next thread to look at in this round; false: none. It is due again only after
 * thread_times_looked(), which must follow. interval_ns: the time since the round of looks before
 * this one.
 */
bool thread_times_next_due(struct thread_times *times, uint64_t now_ns, uint64_t interval_ns,
			   struct wait_due *ret);
/* Whether a thread waited from since_ns to end_ns, which are of its look. All records up to end_ns
 * must have come. */
bool thread_times_has_waited(const struct thread_times *times, uint32_t thread, uint64_t end_ns);
/* Whether any thread waited from begin_ns to end_ns: in its present wait, or one of the last few.
 */
bool thread_times_waited(const struct thread_times *times, pid_t tid, uint64_t begin_ns,
			 uint64_t end_ns);

enum look_outcome {
	LOOKED_PLACE,	  /* the place is true of the wait: thread_times_has_waited() */
	LOOKED_PLACELESS, /* the place is all that can be told: of its kind is WAIT_PLACELESS */
	LOOKED_RUNS,	  /* it runs, or wants a CPU */
	LOOKED_NOTHING,	  /* another look is worthwhile */
};

/* The outcome of a look; run_delay_ns: of /proc/TID/schedstat, 0: unknown. */
void thread_times_looked(struct thread_times *times, uint32_t thread, enum look_outcome outcome,
			 wait_place place, uint64_t run_delay_ns);

/* --- results --- */

/* Gives out what is known up to now. is_end: the last waits, too, which no look has met. */
void thread_times_settle(struct thread_times *times, uint64_t now_ns, bool is_end);
/* Places have another meaning from now on, and sums begin at 0. To be called after settling. */
void thread_times_forget_places(struct thread_times *times);
const struct thread_times_sums *thread_times_sums(const struct thread_times *times);

#endif
