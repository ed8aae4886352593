/*
 * Records wakers: which thread, in which function, ended the wait of another.
 *
 * Wakeup samples (perf/wakeups.h) are merged in time order with the
 * context-switch records: wakers_feed() is called before each of these. Wakeups
 * of threads that are not recorded are dropped before they are unwound. A waker
 * can belong to any process. The mappings of a process that is not recorded are
 * read from /proc when it is first seen, and again when its code is not found.
 *
 * A wakeup by an interrupt is not attributed to a thread, because neither the
 * idle task nor the interrupted thread caused it. Its stack is the kernel's,
 * from the interrupt on. Work that the kernel does for a thread that sends to
 * its own machine is attributed to the thread, although it looks like that of
 * an interrupt.
 */
#ifndef PROF_RECORD_WAKERS_H
#define PROF_RECORD_WAKERS_H

#include "record/config.h"
#include "record/pipeline.h"
#include "record/waits.h"

struct wakers;

/* Opens the tracepoint, disabled. Needs root. */
MUST_CHECK struct error *wakers_open(const struct record_config *config, struct wakers **ret);
void wakers_free(struct wakers *wakers);
DEFINE_CLEANUP(wakers, wakers_free)

MUST_CHECK struct error *wakers_enable(struct wakers *wakers);
/* Wakeups so far can still be fed. */
void wakers_disable(struct wakers *wakers);
/* Readable when there are enough wakeups to read. */
int wakers_fd(const struct wakers *wakers);

/* Passes all wakeups up to until_ns to `waits`. Records before that time must
 * have been fed. */
void wakers_feed(struct wakers *wakers, uint64_t until_ns, const struct pipeline *pipeline,
		 struct waits *waits);
/* Returns the number of wakeups, of any thread, that the kernel could not
 * write. */
uint64_t wakers_lost(const struct wakers *wakers);

#endif
