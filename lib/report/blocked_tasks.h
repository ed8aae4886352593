/*
 * Tasks that block their executor: futures whose thread waited while it polled them, in a system
 * call, for a lock or for memory. A future should return instead, so that its thread can poll
 * others.
 *
 * Counted is waiting (the event off-cpu) below the future, of the samples of a view. Not counted
 * are times in which the thread wanted a CPU, and calls that the executor knows to block
 * (spawn_blocking, block_in_place). Of a future that its thread polls itself (block_on()) it counts
 * if that thread polls other tasks, too. Jobs of a pool and goroutines may block.
 */
#ifndef PROF_REPORT_BLOCKED_TASKS_H
#define PROF_REPORT_BLOCKED_TASKS_H

#include "report/view.h"

struct blocked_task {
	const char *name; /* as its label */
	uint64_t blocked_ns;
	/* The largest part of it: in which call it waited for what. */
	uint64_t place_ns;
	char *reason; /* "[nanosleep]" */
	char *call;   /* "std::thread::functions::sleep"; NULL: the kernel */
	/* "async block src/main.rs:8 blocks the executor: 1.20 s in [nanosleep] of
	 * std::thread::functions::sleep"; NULL: not worth a word, less than a millisecond or a
	 * thousandth of the recording. */
	char *text;
};

struct blocked_tasks {
	struct blocked_task *items; /* those that waited, the longest first */
	size_t count;
	struct tasks *tasks; /* their names */
};

/* waiting: a view of the event off-cpu, which is not borrowed. */
void blocked_tasks_init(struct blocked_tasks *blocked, const struct view *waiting);
/* A zeroed one has nothing to free. */
void blocked_tasks_deinit(struct blocked_tasks *blocked);

/* NULL: it did not wait. */
const struct blocked_task *blocked_tasks_find(const struct blocked_tasks *blocked,
					      const char *name);

#endif
