#include "record/wakers.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "perf/wakeups.h"
#include "record/interrupt_code.h"
#include "record/sampling.h"
#include "record/wait_stacks.h"

#include <stdlib.h>
#include <unistd.h>

enum {
	/* limit of the copy of a waker's stack */
	WAKERS_STACK_BYTES = 8 << 10,
	/* Minimum time before the mappings of the same process are read
	 * again. */
	SNAPSHOT_PAUSE_MS = 100,
	/* Limit of processes outside the target. All are dropped above it. */
	STRANGERS_MAX = 16 << 10,
};

struct wakers {
	struct wakeups *wakeups;
	struct interrupt_code *interrupts;
	struct idmap strangers; /* processes outside the target: (pid, 0) → when their mappings were
				   read, in ms */
	uint32_t stranger_count;
};

struct error *wakers_open(const struct record_config *config, struct wakers **ret)
{
	CLEANUP(wakers_cleanup) struct wakers *wakers = xcalloc(1, sizeof(*wakers));
	bool is_fixed = !config->target.command && !config->target.pid_count;
	struct error *err = wakeups_open(
		&(struct wakeups_options){
			.fields = sampling_stack_fields(config, WAKERS_STACK_BYTES),
			.woken = is_fixed ? config->target.tids : NULL,
			.woken_count = is_fixed ? config->target.tid_count : 0,
		},
		&wakers->wakeups);

	if (err && geteuid() != 0) {
		error_free(err);
		return error_hint(error_new("recording wakers (--wakers) needs root"),
				  "run prof as root (sudo)");
	}
	if (err)
		return err;
	wakers->interrupts = interrupt_code_new();
	*ret = STEAL(wakers);
	return NULL;
}

void wakers_free(struct wakers *wakers)
{
	if (!wakers)
		return;
	wakeups_free(wakers->wakeups);
	interrupt_code_free(wakers->interrupts);
	idmap_deinit(&wakers->strangers);
	free(wakers);
}

struct error *wakers_enable(struct wakers *wakers)
{
	return wakeups_enable(wakers->wakeups);
}

void wakers_disable(struct wakers *wakers)
{
	wakeups_disable(wakers->wakeups);
}

int wakers_fd(const struct wakers *wakers)
{
	return wakeups_fd(wakers->wakeups);
}

static bool finds_code(const struct record *waker, const struct pipeline *pipeline)
{
	struct bytes chain = waker->sample.user_chain;
	struct location location;

	return !bytes_left(&chain) ||
	       address_spaces_locate(pipeline->spaces, waker->pid, waker->time_ns,
				     bytes_u64(&chain), &location);
}

/* Reads the mappings of a process outside the target, for which there are no
 * records. */
static void meet_stranger(struct wakers *wakers, const struct record *waker,
			  const struct pipeline *pipeline)
{
	uint32_t now_ms = (uint32_t)(waker->time_ns / NS_PER_MS), *read_ms;

	if (finds_code(waker, pipeline))
		return;
	if (wakers->stranger_count >= STRANGERS_MAX) {
		idmap_deinit(&wakers->strangers);
		wakers->stranger_count = 0;
	}
	read_ms = idmap_put(&wakers->strangers, (uint64_t)waker->pid, 0);
	if (*read_ms != IDMAP_NONE && now_ms - *read_ms < SNAPSHOT_PAUSE_MS)
		return;
	wakers->stranger_count += *read_ms == IDMAP_NONE;
	*read_ms = now_ms;
	address_spaces_snapshot(pipeline->spaces, waker->pid, waker->time_ns);
}

/* Reduces the sample to the frames of the interrupt. Returns false if the
 * wakeup was by the thread itself. */
static bool cut_interrupt(const struct wakers *wakers, const struct wakeup *wakeup,
			  struct record_sample *sample)
{
	bool was_entered = (wakeup->in_interrupt || wakeup->in_soft_interrupt) &&
			   interrupt_code_cut(wakers->interrupts, &sample->kernel_chain);

	if (!was_entered && !wakeup->in_interrupt && wakeup->waker->tid)
		return false;
	sample->regs.abi = 0;
	sample->user_chain = sample->stack = (struct bytes){0};
	return true;
}

static stack_id wakers_stack_of(struct wakers *wakers, const struct record *waker,
				const struct pipeline *pipeline, const struct waits *waits)
{
	if (!waits_know(waits, waker->tid))
		meet_stranger(wakers, waker, pipeline);
	return wait_stack_of_waker(pipeline->session, waker,
				   names_get(pipeline->names, waker->pid, waker->tid));
}

static void wakers_pass(struct wakers *wakers, const struct wakeup *wakeup,
			const struct pipeline *pipeline, struct waits *waits)
{
	struct record waker = *wakeup->waker;
	bool is_interrupt = cut_interrupt(wakers, wakeup, &waker.sample);
	stack_id stack = is_interrupt ? wait_stack_of_waker(pipeline->session, &waker, NULL)
				      : wakers_stack_of(wakers, &waker, pipeline, waits);

	waits_feed_wakeup(waits, wakeup->woken, waker.time_ns, stack, is_interrupt ? 0 : waker.tid);
}

void wakers_feed(struct wakers *wakers, uint64_t until_ns, const struct pipeline *pipeline,
		 struct waits *waits)
{
	struct wakeup wakeup;

	while (wakeups_next(wakers->wakeups, until_ns, &wakeup))
		if (waits_know(waits, wakeup.woken))
			wakers_pass(wakers, &wakeup, pipeline, waits);
}

uint64_t wakers_lost(const struct wakers *wakers)
{
	return wakeups_lost(wakers->wakeups);
}
