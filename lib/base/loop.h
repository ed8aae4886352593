/*
 * An event loop over epoll(7): callbacks for descriptors that become readable,
 * and for timers.
 *
 * Signals and children are descriptors, too: see base/signals.h and
 * pidfd_open(2). A loop belongs to one thread. A callback may add and remove
 * watches and timers, including its own, but must not run the loop. A removed
 * callback is not called any more. After fork(2) only the parent may use the
 * loop, because the kernel's side of it is shared. A child creates one of its
 * own.
 */
#ifndef PROF_BASE_LOOP_H
#define PROF_BASE_LOOP_H

#include "base/error.h"

#include <stdint.h>

struct loop;
struct loop_watch;
struct loop_timer;

/* A time to wait until. */
#define LOOP_FOREVER UINT64_MAX

typedef void loop_callback(void *user);

MUST_CHECK struct error *loop_new(struct loop **ret);
/*
 * Frees the loop with its watches and timers. Does not close descriptors of
 * others.
 */
void loop_free(struct loop *loop);
DEFINE_CLEANUP(loop, loop_free)

/*
 * Calls back while fd is readable, has an error, or its other end is closed.
 * The watch must be removed before fd is closed. Fails if the kernel is out of
 * memory, or if fd is a regular file.
 */
MUST_CHECK struct error *loop_watch(struct loop *loop, int fd, loop_callback *callback, void *user,
				    struct loop_watch **ret);
/*
 * Stops watching the descriptor until until_ns (clock_now_ns()), and then calls
 * back whether it is readable or not. A callback that calls it repeatedly saves
 * the system calls for watching in between. A time in the past ends the pause.
 */
void loop_rest(struct loop *loop, struct loop_watch *watch, uint64_t until_ns);
/* Accepts NULL. */
void loop_unwatch(struct loop *loop, struct loop_watch *watch);

/*
 * Returns a timer that is not set. The loop is meant for a handful of timers.
 */
struct loop_timer *loop_add_timer(struct loop *loop, loop_callback *callback, void *user);
/* Calls back once, soon after at_ns (clock_now_ns()). 0 cancels the timer. */
void loop_set_timer(struct loop_timer *timer, uint64_t at_ns);
/* Accepts NULL. */
void loop_remove_timer(struct loop_timer *timer);

/*
 * Waits until something is ready or due, or until until_ns (clock_now_ns(); 0
 * not to wait). Then makes all callbacks that are due: descriptors first, in
 * the order in which they became ready. A signal handler that has run also ends
 * the wait.
 */
void loop_run(struct loop *loop, uint64_t until_ns);

#endif
