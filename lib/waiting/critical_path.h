/*
 * The critical path of a program: the chain of threads that its end waited for.
 *
 * The path is walked backwards from the end of one thread. While the thread
 * ran, the time is its own. Where it had waited for another thread of the
 * program, the path goes on with the thread that woke it, at the time of the
 * wakeup; the time until it ran is its own again. A wait that something outside
 * the program ended (a timer, a device, another program) belongs to the thread
 * itself. Before its start, the path goes on with the thread that created it.
 * So the parts of the path follow each other without a gap and add up to the
 * elapsed time.
 *
 * Who woke a thread is known from wakeups. Without them it is known for joins
 * (the thread that ended) and for locks that name their holder. If another
 * thread has taken the lock since, after a wait for it, that thread counts.
 *
 * All times are CLOCK_MONOTONIC. Records must be passed in order of time.
 * Everything is kept until the path is taken: 24 to 40 bytes per context
 * switch, sample and wait. Not thread-safe. Sources: C.-Q. Yang and B. P.
 * Miller, Critical Path Analysis for the Execution of Parallel and Distributed
 * Programs (1988); wPerf (OSDI 2018).
 */
#ifndef PROF_WAITING_CRITICAL_PATH_H
#define PROF_WAITING_CRITICAL_PATH_H

#include "base/cleanup.h"
#include "waiting/wait_part.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Identifies the names of an ended thread; its meaning is up to the caller. */
typedef uint32_t critical_names;
#define CRITICAL_NAMES_NONE UINT32_MAX

/* A part of the path. Its weight is end_ns - start_ns. */
struct critical_part {
	pid_t pid, tid;
	critical_names names; /* CRITICAL_NAMES_NONE if the thread has not ended */
	wait_place place;     /* PLACE_UNKNOWN if there is no sample or snapshot */
	bool has_run;
	uint64_t start_ns, end_ns;
};

struct critical_sink {
	void (*add)(void *user, const struct critical_part *part);
	/* Whether the path may end with the thread of this part, which has no
	 * times and no place. NULL to end it with the process's first thread. */
	bool (*is_end)(void *user, const struct critical_part *last);
	void *user;
};

enum critical_result {
	CRITICAL_TAKEN,
	CRITICAL_TOO_MANY, /* there were too many records to keep them */
	CRITICAL_NO_END,   /* the path may end with none of the threads */
};

struct critical_path;

struct critical_path *critical_path_new(void);
void critical_path_free(struct critical_path *path);
DEFINE_CLEANUP(critical_path, critical_path_free)

/* Adds a thread; creator is the tid of the thread that created it, or 0. Does
 * nothing if the thread is known. */
void critical_path_begin(struct critical_path *path, pid_t pid, pid_t tid, pid_t creator,
			 uint64_t time_ns);
/* The others ignore threads that were not added. */
void critical_path_switch(struct critical_path *path, pid_t tid, uint64_t time_ns, bool is_out);
void critical_path_end(struct critical_path *path, pid_t tid, uint64_t time_ns,
		       critical_names names);
/* Ends the thread, and starts another one of this tid that goes on with it. An
 * unknown thread is added. */
void critical_path_exec(struct critical_path *path, pid_t pid, pid_t tid, uint64_t time_ns,
			critical_names names);
/* waker: the tid of the thread that ended the wait; 0 if it was no thread. */
void critical_path_woken(struct critical_path *path, pid_t tid, uint64_t time_ns, pid_t waker);
/* At this time, the thread waits for another one: to end, or to release the lock
 * at this address; 0 for the former. Used if the wait's end has no known
 * waker. */
void critical_path_waits_for(struct critical_path *path, pid_t tid, uint64_t time_ns, pid_t other,
			     uint64_t lock);
void critical_path_sampled(struct critical_path *path, pid_t tid, uint64_t time_ns,
			   wait_place place);
void critical_path_waited(struct critical_path *path, pid_t tid, uint64_t start_ns, uint64_t end_ns,
			  wait_place place);

/*
 * Passes the path that ends at end_ns, or with its last thread, to the sink, from
 * its end to its start. It ends with the thread that lived longest of those with
 * which it may end.
 */
enum critical_result critical_path_take(struct critical_path *path, uint64_t end_ns,
					struct critical_sink sink);
/* Forgets what happened before now_ns, all places and names. */
void critical_path_forget(struct critical_path *path, uint64_t now_ns);

#endif
