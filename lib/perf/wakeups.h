/*
 * Wakeups: who wakes whom, by the tracepoint sched:sched_waking of all CPUs.
 *
 * The kernel writes a sample in the waker's context, before the woken thread can run: its registers
 * and stack are the waker's. Rings of their own keep a storm of other processes' wakeups from the
 * samples. Only root may read tracepoints.
 *
 * A sample costs the waker some microseconds, whoever it wakes. If all that can be woken is known,
 * the kernel leaves out the rest, without cost.
 * Source: perf_event_open(2), PERF_EVENT_IOC_SET_FILTER; include/trace/events/sched.h.
 */
#ifndef PROF_PERF_WAKEUPS_H
#define PROF_PERF_WAKEUPS_H

#include "base/error.h"
#include "perf/event.h"
#include "perf/record.h"

struct wakeups_options {
	struct sample_fields fields; /* of a sample of the waker */
	/* The threads of which wakeups are wanted, if no others will come; NULL: all. More than
	 * WAKEUPS_FILTERED are not filtered. */
	const pid_t *woken;
	size_t woken_count;
};

enum { WAKEUPS_FILTERED = 64 };

struct wakeup {
	pid_t woken; /* the thread */
	/* The waker was interrupted, and the interrupt woke the thread; or it served what
	 * interrupts had left to be done, its own or those of others. */
	bool in_interrupt, in_soft_interrupt;
	const struct record *waker; /* a sample; tid 0: the idle task */
};

struct wakeups;

/* Opens the tracepoint, disabled. The error says what is missing. */
MUST_CHECK struct error *wakeups_open(const struct wakeups_options *options, struct wakeups **ret);
void wakeups_free(struct wakeups *wakeups);
DEFINE_CLEANUP(wakeups, wakeups_free)

MUST_CHECK struct error *wakeups_enable(struct wakeups *wakeups);
void wakeups_disable(struct wakeups *wakeups);
/* Readable when a ring is half full. */
int wakeups_fd(const struct wakeups *wakeups);

/*
 * The next one up to until_ns, which must not go back; false: none. Borrowed until the next call.
 */
bool wakeups_next(struct wakeups *wakeups, uint64_t until_ns, struct wakeup *ret);
/* Those that the kernel could not write, of any thread. */
uint64_t wakeups_lost(const struct wakeups *wakeups);

#endif
