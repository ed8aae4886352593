#include "record/deep_threads.h"

#include "base/clock.h"

enum {
	/* Number of samples to copy whole after a walk failed because a part of
	 * the stack was not copied. */
	WHOLE_SAMPLES = 2000,
};

/* A thread without samples for this long loses its entry to another one. */
#define IDLE_NS NS_PER_SECOND
/* Time from publishing slots until all samples are taken with them. */
#define GIVEN_NS NS_PER_MS

void deep_threads_deinit(struct deep_threads *threads)
{
	for (unsigned i = 0; i < STACK_SLOT_THREADS; i++)
		outer_walk_deinit(&threads->items[i].outer);
}

static void forget_stacks(struct outer_frames *frames)
{
	for (unsigned i = 0; i < frames->count; i++)
		frames->items[i].stack = OUTER_NO_STACK;
}

void deep_threads_forget_stacks(struct deep_threads *threads)
{
	for (unsigned i = 0; i < STACK_SLOT_THREADS; i++) {
		forget_stacks(&threads->items[i].outer.kept[0]);
		forget_stacks(&threads->items[i].outer.kept[1]);
	}
}

static bool is_deep(const struct record_sample *sample)
{
	return bytes_left(&sample->stack) > sample->dumped_bytes || sample->equal_slots;
}

struct deep_thread *deep_threads_find(struct deep_threads *threads, const struct record *record)
{
	const struct record_sample *sample = &record->sample;
	struct deep_thread *thread = &threads->items[(uint32_t)record->tid % STACK_SLOT_THREADS];

	/* The kernel's copy holds the whole stack. Walking it is faster than
	 * comparing it. */
	if (!is_deep(sample))
		return NULL;
	if (thread->tid != record->tid) {
		if (record->time_ns < thread->sampled_ns + IDLE_NS)
			return NULL;
		outer_walk_forget(&thread->outer);
		thread->tid = record->tid;
		thread->whole = 0;
		thread->given_ns = 0;
	}
	thread->sampled_ns = record->time_ns;
	outer_walk_expect(&thread->outer, sample->slots_version, sample->equal_slots);
	return thread;
}

static const struct stack_slots *deep_threads_give(struct deep_threads *threads,
						   struct deep_thread *thread)
{
	outer_walk_slots(&thread->outer, &threads->slots);
	if (thread->whole)
		threads->slots.count = 0;
	thread->given_ns = clock_now_ns();
	return &threads->slots;
}

const struct stack_slots *deep_threads_note(struct deep_threads *threads,
					    struct deep_thread *thread, const struct record *record,
					    bool is_cut)
{
	if (is_cut && record->sample.equal_slots) {
		thread->whole = WHOLE_SAMPLES;
		return deep_threads_give(threads, thread);
	}
	if (thread->whole > 1) {
		thread->whole--;
		return NULL;
	}
	if (record->time_ns < thread->given_ns + GIVEN_NS)
		return NULL;
	if (outer_walk_is_outdated(&thread->outer) ||
	    (thread->whole && outer_walk_may_keep(&thread->outer))) {
		thread->whole = 0;
		outer_walk_keep(&thread->outer, ++threads->versions);
		return deep_threads_give(threads, thread);
	}
	/* The entry still has the slots of another thread. */
	return thread->given_ns ? NULL : deep_threads_give(threads, thread);
}
