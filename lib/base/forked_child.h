/*
 * Children that prof forks: to work on a copy of its memory, to drop
 * privileges, or to execute another program. fork(2) is called only here. It
 * copies only the calling thread. These are the rules for the child:
 *
 * - Memory is a copy, so prof does not see changes of the child. malloc()
 *   works. Other locks that another thread held stay locked, so the child must
 *   not touch anything that another thread uses. It may start threads and
 *   create a loop, a team or a timed_caller of its own.
 * - The child never returns into prof. It ends with _exit(2), without exit
 *   handlers and without flushing prof's streams. It prints to stderr, which is
 *   unbuffered and used only by the main thread.
 * - Signals that prof handles stay blocked, and the thread that receives them
 *   is missing. A child that runs for long calls signals_after_fork(). A child
 *   that executes a program of the user calls signals_restore(). Others can be
 *   ended only with SIGKILL. A key such as Ctrl-C also reaches the child,
 *   unless it leaves the process group.
 * - Descriptors are shared. O_CLOEXEC closes them at an exec, not at a fork. A
 *   pipe reaches its end only after the child has closed its copy of the write
 *   end, a flock(2) lock is held until all copies are closed, and perf events
 *   stay open. The child must not use prof's loop, because the kernel's side of
 *   it is shared. The rings of perf events are not mapped in the child, so it
 *   must not read them.
 * - Timers are not inherited. The child keeps prof's priority until it changes
 *   it.
 * - The caller that starts a child waits for it, once, with one of the
 *   functions below, unless prof ends before.
 */
#ifndef PROF_BASE_FORKED_CHILD_H
#define PROF_BASE_FORKED_CHILD_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum forked_child_life {
	FORKED_CHILD_LIVES_ON, /* it completes its work if prof is killed */
	/*
	 * SIGKILL ends it when the *thread* that started it ends. An exec does
	 * not change that.
	 */
	FORKED_CHILD_ENDS_WITH_THREAD,
};

/* The child calls main(user) and exits with its result. */
MUST_CHECK struct error *forked_child_start(enum forked_child_life life, int (*main)(void *user),
					    void *user, pid_t *ret);

/*
 * For the child: ends it with the thread of `parent` that started it. The
 * kernel forgets this when the child changes its user, so the child must call
 * it again then. Returns false if the parent has already ended.
 */
bool forked_child_end_with(pid_t parent);

struct forked_child_end {
	int status; /* the status of waitpid(2) */
	uint64_t cpu_ns;
	uint64_t peak_bytes; /* peak memory, including memory shared with prof */
};

struct forked_child_end forked_child_wait(pid_t child);
/* Ends the child with SIGKILL and waits for it. */
struct forked_child_end forked_child_kill(pid_t child);
/*
 * Waits until until_ns (clock_now_ns(); 0 not to wait). Returns false if the
 * child still runs.
 */
bool forked_child_wait_until(pid_t child, uint64_t until_ns, struct forked_child_end *ret);

#endif
