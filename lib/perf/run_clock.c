#include "perf/run_clock.h"

#include "base/cleanup.h"
#include "perf/attr.h"

#include <unistd.h>

enum {
	/* Samples that show the difference of the times. */
	SEEN_MIN = 2,
	/*
	 * How much later than at its earliest a thread is switched out after a
	 * sample. A thread that returns to its program runs until the next
	 * interrupt, which is usually milliseconds.
	 */
	LATER_NS = 8000,
	/* Below the least difference by more than this, something else has
	 * changed: a child thread has ended, whose time is added to that of the
	 * first thread. */
	EARLIER_NS = 2000,
};

static void run_clock_close(struct run_clock_thread *known)
{
	if (known->tid)
		close_fd(&known->fd);
	*known = (struct run_clock_thread){0};
}

void run_clock_deinit(struct run_clock *clock)
{
	for (unsigned i = 0; i < RUN_CLOCK_THREADS; i++)
		run_clock_close(&clock->threads[i]);
}

static void run_clock_open(struct run_clock_thread *known, pid_t tid)
{
	struct perf_event_attr attr;

	run_clock_close(known);
	attr_run_clock(&attr);
	known->tid = tid;
	known->fd = attr_open(&attr, tid, -1);
	if (known->fd < 0)
		known->fd = -1;
}

/* Stores the difference of the event's time and that of the sample. */
static bool run_clock_read(const struct run_clock_thread *known,
			   const struct sampled_thread *thread, int64_t *ret)
{
	uint64_t words[2]; /* the count of a dummy, and the time */

	if (known->fd < 0 || read(known->fd, words, sizeof(words)) != sizeof(words))
		return false;
	*ret = (int64_t)(words[1] - thread->running_ns);
	return true;
}

static struct run_clock_thread *run_clock_thread_of(struct run_clock *clock, pid_t tid)
{
	return &clock->threads[(unsigned)tid % RUN_CLOCK_THREADS];
}

bool run_clock_proves(struct run_clock *clock, const struct sampled_thread *thread)
{
	const struct run_clock_thread *known = run_clock_thread_of(clock, thread->tid);
	int64_t difference_ns;

	if (!thread->running_ns || known->tid != thread->tid || known->seen < SEEN_MIN ||
	    !run_clock_read(known, thread, &difference_ns))
		return false;
	return difference_ns >= known->least_ns - EARLIER_NS &&
	       difference_ns <= known->least_ns + LATER_NS;
}

void run_clock_learn(struct run_clock *clock, const struct sampled_thread *thread)
{
	struct run_clock_thread *known = run_clock_thread_of(clock, thread->tid);
	int64_t difference_ns;

	if (!thread->running_ns)
		return;
	if (known->tid != thread->tid)
		run_clock_open(known, thread->tid);
	if (!run_clock_read(known, thread, &difference_ns))
		return;
	if (!known->seen || difference_ns < known->least_ns - EARLIER_NS)
		known->seen = 0;
	if (!known->seen || difference_ns < known->least_ns)
		known->least_ns = difference_ns;
	known->seen++;
}
