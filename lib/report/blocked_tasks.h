/*
 * Finds tasks that block their executor: futures whose thread waited while it
 * polled them, in a system call, for a lock or for memory. A future should
 * return instead, so that its thread can poll others.
 *
 * The module counts off-CPU time below the future in the samples of a view. It
 * does not count times in which the thread was runnable, nor calls that the
 * executor expects to block (spawn_blocking, block_in_place). For a future of
 * block_on() it counts only if the thread also polls other tasks. Jobs of a
 * pool and goroutines may block.
 */
#ifndef PROF_REPORT_BLOCKED_TASKS_H
#define PROF_REPORT_BLOCKED_TASKS_H

#include "report/view.h"

struct blocked_task {
	const char *name; /* the value of its label */
	uint64_t blocked_ns;
	/* The largest part of the time: one call and one reason. */
	uint64_t place_ns;
	char *reason; /* "[nanosleep]" */
	char *call;   /* "std::thread::functions::sleep", or NULL for the kernel */
	/*
	 * "async block src/main.rs:8 blocks the executor: 1.20 s in [nanosleep]
	 * of std::thread::functions::sleep". NULL if it is less than a
	 * millisecond or a thousandth of the recording.
	 */
	char *text;
};

struct blocked_tasks {
	struct blocked_task *items; /* tasks that waited, the longest first */
	size_t count;
	struct tasks *tasks; /* their names */
};

/* waiting: a view of the event off-cpu. It is not borrowed. */
void blocked_tasks_init(struct blocked_tasks *blocked, const struct view *waiting);
/* Accepts a zeroed struct. */
void blocked_tasks_deinit(struct blocked_tasks *blocked);

/* Returns NULL if the task did not wait. */
const struct blocked_task *blocked_tasks_find(const struct blocked_tasks *blocked,
					      const char *name);

#endif
