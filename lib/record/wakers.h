/*
 * Wakers: which thread, in which function, ended the waits of others.
 *
 * Samples of wakeups (perf/wakeups.h) come in the order of time between the records of context
 * switches: wakers_feed() is called before each of these. Wakeups of threads that are not recorded
 * are dropped before anything is unwound. A waker can be of any process; the mappings of one that
 * is not recorded are read from /proc when it is first seen, and again when its code is not found.
 *
 * An interrupt wakes on behalf of no thread: the idle task and a thread that it interrupts have
 * nothing to do with it. Its stack is the kernel's, from the interrupt on. What the kernel does for
 * a thread that sends to its own machine is the thread's, though it looks like an interrupt's work.
 */
#ifndef PROF_RECORD_WAKERS_H
#define PROF_RECORD_WAKERS_H

#include "record/config.h"
#include "record/pipeline.h"
#include "record/waits.h"

struct wakers;

/* Opens the tracepoint, disabled. Root alone may. */
MUST_CHECK struct error *wakers_open(const struct record_config *config, struct wakers **ret);
void wakers_free(struct wakers *wakers);
DEFINE_CLEANUP(wakers, wakers_free)

MUST_CHECK struct error *wakers_enable(struct wakers *wakers);
/* Wakeups can still be fed. */
void wakers_disable(struct wakers *wakers);
/* Readable when wakeups are worth reading. */
int wakers_fd(const struct wakers *wakers);

/* Tells `waits` of all wakeups up to until_ns; records before that must have been fed. */
void wakers_feed(struct wakers *wakers, uint64_t until_ns, const struct pipeline *pipeline,
		 struct waits *waits);
/* Wakeups that the kernel could not write, of any thread. */
uint64_t wakers_lost(const struct wakers *wakers);

#endif
