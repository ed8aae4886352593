/*
 * Records which thread wakes which, from the tracepoint sched:sched_waking on
 * all CPUs.
 *
 * The kernel writes a sample in the waker's context, before the woken thread
 * can run. The registers and the stack in it are the waker's. Wakeups have
 * separate rings, so that many wakeups of other processes cannot displace
 * samples. Only root may read tracepoints.
 *
 * A sample costs the waker some microseconds. If the woken threads are known in
 * advance, the kernel filters all other wakeups, which then cost nothing.
 *
 * Source: perf_event_open(2), PERF_EVENT_IOC_SET_FILTER;
 * include/trace/events/sched.h.
 */
#ifndef PROF_PERF_WAKEUPS_H
#define PROF_PERF_WAKEUPS_H

#include "base/error.h"
#include "perf/event.h"
#include "perf/record.h"

struct wakeups_options {
	struct sample_fields fields; /* contents of a sample of the waker */
	/* The threads whose wakeups are wanted, if the set is complete; NULL
	 * for all threads. A set of more than WAKEUPS_FILTERED is not
	 * filtered. */
	const pid_t *woken;
	size_t woken_count;
};

enum { WAKEUPS_FILTERED = 64 };

struct wakeup {
	pid_t woken; /* the woken thread */
	/* The waker was interrupted and the interrupt handler woke the thread,
	 * or the waker ran a softirq, whose work may stem from any
	 * interrupt. */
	bool in_interrupt, in_soft_interrupt;
	/* The waker's sample; its tid is 0 for the idle task. */
	const struct record *waker;
};

struct wakeups;

/* Opens the tracepoint, disabled. The error names what is missing. */
MUST_CHECK struct error *wakeups_open(const struct wakeups_options *options, struct wakeups **ret);
void wakeups_free(struct wakeups *wakeups);
DEFINE_CLEANUP(wakeups, wakeups_free)

MUST_CHECK struct error *wakeups_enable(struct wakeups *wakeups);
void wakeups_disable(struct wakeups *wakeups);
/* Readable when a ring is half full. */
int wakeups_fd(const struct wakeups *wakeups);

/*
 * Returns the next wakeup up to until_ns, which must not decrease; false if
 * there is none. It is borrowed until the next call.
 */
bool wakeups_next(struct wakeups *wakeups, uint64_t until_ns, struct wakeup *ret);
/* Returns the number of wakeups, of any thread, that the kernel lost. */
uint64_t wakeups_lost(const struct wakeups *wakeups);

#endif
