/*
 * Calls a function on a helper thread and stops waiting when it stands still. What a system call
 * does with a file can take for ever if its file system (NFS, FUSE) does not answer; opening the
 * file cannot be interrupted then.
 *
 * A call that stands still is left behind with its thread, which ends when the system call does, or
 * with the process. Only time counts in which the thread sleeps: on a busy machine a call may wait
 * for a CPU as long as it takes.
 *
 * Each call names its place. While a call of a place is left behind, further calls of that place
 * are refused at once, and while eight are left behind all calls are. So a place that does not
 * answer costs a second, and the other places nothing.
 */
#ifndef PROF_BASE_TIMED_CALL_H
#define PROF_BASE_TIMED_CALL_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

/* A member of the caller's own struct, on the heap, as it may outlive the caller. */
struct timed_call {
	void (*run)(struct timed_call *call);
	/* Frees the call and its results. Runs on the helper thread if the call was left behind. */
	void (*discard)(struct timed_call *call);
	uint64_t place; /* a device, a user */
};

/* Makes one call at a time, also for several threads. A forked child may go on to use it if no call
 * was being made. */
struct timed_caller;

/* Starts no thread before the first call. */
struct timed_caller *timed_caller_new(void);
/* How long calls may sleep: instead of a second. */
void timed_caller_set_patience(struct timed_caller *caller, uint64_t ns);
/* Does not wait for calls that were left behind. */
void timed_caller_free(struct timed_caller *caller);
DEFINE_CLEANUP(timed_caller, timed_caller_free)

/*
 * True when the call has run; it is the caller's then. False if it was left behind or refused; it
 * is or will be discarded then. Without the resources for a thread, runs the call on this one.
 */
bool timed_caller_run(struct timed_caller *caller, struct timed_call *call);

#endif
