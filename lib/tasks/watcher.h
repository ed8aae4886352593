/*
 * Polls the tasks of running programs about ten times per second on a thread of
 * its own, and sums up where tasks wait, and how long.
 *
 * A snapshot of the tasks of a process stands for the time since the previous
 * one. The intervals are random, so that the sums are unbiased even for
 * periodic tasks. Polling uses at most 1 % of a CPU: if snapshots are more
 * expensive, it slows down. This thread also reads the programs (program.h). It
 * cannot poll the tasks of a program before it has read it.
 */
#ifndef PROF_TASKS_WATCHER_H
#define PROF_TASKS_WATCHER_H

#include "tasks/task_reader.h"

struct task_watcher;

/* Returns NULL if the thread cannot be created. */
struct task_watcher *task_watcher_new(void);
/*
 * Ends the thread and frees the layouts. A process can make reads of its memory
 * hang (base/untrusted_read.h). In that case the thread is abandoned after one
 * second.
 */
void task_watcher_free(struct task_watcher *watcher);
DEFINE_CLEANUP(task_watcher, task_watcher_free)

/*
 * Adds a process to poll. Call this again after it has executed another
 * program. Any thread may call this.
 */
void task_watcher_add(struct task_watcher *watcher, pid_t pid);
/*
 * Starts or resumes polling. The time before it and the time of a pause are not
 * counted.
 */
void task_watcher_begin(struct task_watcher *watcher);
/*
 * Pauses polling. Waits, for at most half a second, for a last snapshot that
 * covers the time up to now.
 */
void task_watcher_pause(struct task_watcher *watcher);

/* The waits of a process's tasks at one place since the last call. */
struct task_wait_sum {
	pid_t pid;
	const struct task_layout *layout;
	uint64_t code; /* an address of the program's code in the process */
	const struct task_place *places;
	size_t count;
	bool is_ready;
	uint64_t looks;
	uint64_t wait_ns;
};

/*
 * Passes all sums to the callback and resets them. The callback must not keep
 * them or call the watcher. This does not wait for a snapshot in progress,
 * whose remaining sums come with the next call.
 */
void task_watcher_take(struct task_watcher *watcher,
		       void (*take)(void *user, const struct task_wait_sum *sum), void *user);

struct task_watcher_counts {
	unsigned processes;	  /* with tasks, so far */
	struct task_counts tasks; /* sums over all snapshots */
	uint64_t rounds;
	uint64_t lost; /* places dropped because there were too many between two calls */
	/*
	 * The process of a read that has not finished after 5 s, or 0. Nothing
	 * else was read since.
	 */
	pid_t hung;
	bool lacks_lists; /* A program is known, but no process has a task list. */
};
struct task_watcher_counts task_watcher_counts(struct task_watcher *watcher);
/*
 * Returns why a program's tasks cannot be read, for the first such program, or
 * NULL. The caller frees the string.
 */
char *task_watcher_problem(struct task_watcher *watcher);

#endif
