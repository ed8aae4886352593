/*
 * Tasks: the futures that an executor polls, the jobs of a thread pool, goroutines. Several run on
 * one thread, one after the other; a stack says which one it is of.
 *
 * The task of a stack begins at the function of the program that the runtime calls
 * (task_rules.h): the future that was spawned, its wrappers passed over. Of several in one stack
 * the innermost counts: a worker that waits for a job executes another. All tasks that begin at one
 * function are one task here, as one go statement or spawn() starts any number of them.
 *
 * The name of a task is
 * - "shop::cart" for an async function or a future with a poll() of its own;
 * - "async block src/main.rs:8", "closure src/main.rs:8" with the line where it is declared, the
 *   file without the directories above its package; without debug information
 *   "async block #2 of shop::cart", "closure of shop::cart";
 * - the function of the go statement, "main.main.func1";
 * with " (block_on)" or " (spawn_blocking)" if it is not polled by an executor.
 *
 * Samples have it as the label "task". A stack of the event await consists of futures alone and
 * begins with the task's.
 *
 * Polls of a task: how often samples show that a thread began with it, that is, had been in another
 * task, or in none, at its sample before. Two polls of one task in turn without a sample in between
 * count as one, and one between two samples as none, so there were at least as many.
 */
#ifndef PROF_PROFILE_TASKS_H
#define PROF_PROFILE_TASKS_H

#include "profile/profile.h"
#include "profile/task_rules.h"

#define TASK_LABEL "task"
#define NO_TASK UINT32_MAX

struct task {
	char *name;
	enum task_kind kind;
};

struct tasks {
	struct task *items;
	uint32_t count, room;
	uint32_t *of_stack; /* by stack: index of its task, or NO_TASK; NULL: there are no tasks */
	bool *may_block;    /* by stack: in a call that its executor knows to block */
};

/* The tasks of all stacks. The frames must be symbolized. Linear in the stack trie. */
void tasks_find(struct tasks *tasks, const struct profile *profile);
void tasks_deinit(struct tasks *tasks);

/*
 * Gives samples the label of their task, and the profile the polls of tasks if it has turns. Does
 * nothing if a sample has the label already, such as those of a file, or if there are no tasks. Ids
 * of samples stay: no two become equal.
 */
void tasks_label(struct profile *profile);

#endif
