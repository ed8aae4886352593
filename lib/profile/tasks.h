/*
 * Tasks: the futures that an executor polls, the jobs of a thread pool,
 * goroutines. Several tasks run on one thread, one after the other. The stack
 * shows which task a sample belongs to.
 *
 * The task of a stack starts at the function of the program that the runtime
 * calls (task_rules.h): the future that was spawned, without its wrappers. If a
 * stack contains several, the innermost one counts, because a worker that waits
 * for a job executes another one. While a connection of axum, actix or tonic
 * runs a handler, the task is the handler's async function. All tasks that start at one function
 * are the same task here, because one go statement or spawn() can start any number of them.
 *
 * The name of a task is one of these:
 * - "shop::cart" for an async function or a future with a poll() of its own;
 * - "async block src/main.rs:8", "closure src/main.rs:8" with the line of the
 *   declaration and the file relative to its package; without debug information
 *   "async block #2 of shop::cart", "closure of shop::cart";
 * - the function of the go statement, "main.main.func1".
 *
 * If the task is not polled by an executor, a space and "(block_on)" or
 * "(spawn_blocking)" follow.
 *
 * Samples have the task as the label "task". A stack of the event await
 * consists only of futures and starts with that of the task.
 *
 * The polls of a task are the number of times that samples show a thread
 * starting with it: at the thread's previous sample, it was in another task or
 * in none. This is a lower bound. Two consecutive polls of a task without
 * another sample in between count as one, and a poll between two samples does
 * not count.
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
	/*
	 * The task of each stack: an index, or NO_TASK. NULL if there are no
	 * tasks.
	 */
	uint32_t *of_stack;
	/*
	 * For each stack, whether it is in a call that its executor expects to
	 * block.
	 */
	bool *may_block;
};

/*
 * Finds the tasks of all stacks in time linear in the stack trie. The frames
 * must be symbolized.
 */
void tasks_find(struct tasks *tasks, const struct profile *profile);
void tasks_deinit(struct tasks *tasks);

/*
 * Gives samples the label of their task, and sets the polls of tasks if the
 * profile keeps the order of samples. Does nothing if a sample has the label
 * already (it can come from a file) or if there are no tasks. Ids of samples
 * stay, because no two samples become equal.
 */
void tasks_label(struct profile *profile);

#endif
