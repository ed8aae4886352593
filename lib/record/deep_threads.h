/*
 * Threads whose stacks are deep: what is known of their outer frames (outer_walk.h), and the stacks
 * of the profile that end with each of these.
 *
 * What a walk has found is kept for further ones, and given to who samples as slots
 * (stack_slot.h). New slots are given only after a sample that was taken with the last ones: the
 * frames of one version and the one before it are known.
 */
#ifndef PROF_RECORD_DEEP_THREADS_H
#define PROF_RECORD_DEEP_THREADS_H

#include "perf/record.h"
#include "unwind/outer_walk.h"

struct deep_thread {
	pid_t tid;
	uint64_t sampled_ns; /* last */
	uint64_t given_ns;   /* when its slots were */
	unsigned whole;	     /* so many samples from now on are to be copied whole */
	struct outer_walk outer;
};

/* Zeroed: empty. */
struct deep_threads {
	struct deep_thread items[STACK_SLOT_THREADS];
	uint64_t versions;
	struct stack_slots slots; /* what was given last */
};

void deep_threads_deinit(struct deep_threads *threads);
/* The profile is another one, or its stacks are. */
void deep_threads_forget_stacks(struct deep_threads *threads);

/* Before the walk of a sample. NULL: its stack is not deep, or its place is another thread's. */
struct deep_thread *deep_threads_find(struct deep_threads *threads, const struct record *record);
/*
 * After it. is_cut: it has ended where the copy of the stack does. The slots to give to who
 * samples, borrowed until the next call; NULL: it has them.
 */
const struct stack_slots *deep_threads_note(struct deep_threads *threads,
					    struct deep_thread *thread, const struct record *record,
					    bool is_cut);

#endif
