/*
 * Calls a function on a helper thread and stops waiting if it hangs. A system
 * call on a file can take forever if its file system (NFS, FUSE) does not
 * respond, and opening the file cannot be interrupted then.
 *
 * A call that hangs is abandoned with its thread, which ends when the system
 * call does, or with the process. Only time in which the thread sleeps counts.
 * On a busy machine a call may be runnable for as long as it takes.
 *
 * Each call names its place. While a call of a place is abandoned, further
 * calls of that place are refused at once. While eight are abandoned, all calls
 * are refused. Thus a place that does not respond costs one second, and other
 * places cost nothing.
 */
#ifndef PROF_BASE_TIMED_CALL_H
#define PROF_BASE_TIMED_CALL_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A member of the caller's own struct. It is on the heap, because it may
 * outlive the caller.
 */
struct timed_call {
	void (*run)(struct timed_call *call);
	/*
	 * Frees the call and its results. It runs on the helper thread if the
	 * call was abandoned.
	 */
	void (*discard)(struct timed_call *call);
	uint64_t place; /* a device or a user */
};

/*
 * Makes one call at a time, for one or several threads. A forked child may
 * continue to use it if no call was in progress.
 */
struct timed_caller;

/* Starts no thread before the first call. */
struct timed_caller *timed_caller_new(void);
/* Sets how long calls may sleep. The default is one second. */
void timed_caller_set_timeout(struct timed_caller *caller, uint64_t ns);
/* Does not wait for abandoned calls. */
void timed_caller_free(struct timed_caller *caller);
DEFINE_CLEANUP(timed_caller, timed_caller_free)

/*
 * Returns true if the call has completed; the caller owns it then. Returns
 * false if it was abandoned or refused; it is or will be discarded then. If no
 * thread can be started, runs the call on the caller's thread.
 */
bool timed_caller_run(struct timed_caller *caller, struct timed_call *call);

#endif
