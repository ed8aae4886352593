/*
 * Caches the outer frames of threads with deep stacks (outer_walk.h), with the
 * stacks of the profile that end at each of these frames.
 *
 * The results of a walk are reused for further walks and published as slots
 * (stack_slot.h) for the BPF program, which then copies only the changed part
 * of a stack. New slots are published only after a sample was taken with the
 * previous ones. So the frames of two versions are kept: the current one and
 * the one before it.
 */
#ifndef PROF_RECORD_DEEP_THREADS_H
#define PROF_RECORD_DEEP_THREADS_H

#include "perf/record.h"
#include "unwind/outer_walk.h"

struct deep_thread {
	pid_t tid;
	uint64_t sampled_ns; /* time of the last sample */
	uint64_t given_ns;   /* when its slots were published */
	unsigned whole;	     /* this many further samples must be copied whole */
	struct outer_walk outer;
};

/* A zeroed struct is empty. */
struct deep_threads {
	struct deep_thread items[STACK_SLOT_THREADS];
	uint64_t versions;
	struct stack_slots slots; /* published last */
};

void deep_threads_deinit(struct deep_threads *threads);
/* Must be called when the profile or its stacks are replaced. */
void deep_threads_forget_stacks(struct deep_threads *threads);

/* Must be called before the walk of a sample. Returns NULL if the stack is not
 * deep, or if the thread's entry is in use by another thread. */
struct deep_thread *deep_threads_find(struct deep_threads *threads, const struct record *record);
/*
 * Must be called after the walk of a sample. is_cut is set if the walk ended
 * where the copy of the stack ends. Returns the slots to publish, borrowed
 * until the next call, or NULL if they have not changed.
 */
const struct stack_slots *deep_threads_note(struct deep_threads *threads,
					    struct deep_thread *thread, const struct record *record,
					    bool is_cut);

#endif
