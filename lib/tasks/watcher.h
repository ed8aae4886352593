/*
 * Looks at the tasks of running programs about ten times per second, from a thread of its own, and
 * adds up how long tasks waited where.
 *
 * Each look counts for the time since the last one of that process, at times that vary by chance,
 * so that the sums are right for tasks of any rhythm. Looks take 1 % of a CPU: where they would
 * take more they become rarer. Programs are read (program.h) by the same thread; until then their
 * tasks are not looked at.
 */
#ifndef PROF_TASKS_WATCHER_H
#define PROF_TASKS_WATCHER_H

#include "tasks/task_reader.h"

struct task_watcher;

/* NULL: there cannot be another thread. */
struct task_watcher *task_watcher_new(void);
/*
 * Ends the thread; layouts end with it. A process can make reads of its memory hang
 * (base/foreign_read.h): then the thread is left behind after a second.
 */
void task_watcher_free(struct task_watcher *watcher);
DEFINE_CLEANUP(task_watcher, task_watcher_free)

/* A process that is to be looked at; again after it has executed another program. Any thread. */
void task_watcher_add(struct task_watcher *watcher, pid_t pid);
/* Until begun, and while paused, nothing is looked at; the time of a pause counts for nothing. */
void task_watcher_begin(struct task_watcher *watcher);
/* Waits, for half a second at most, for a last look that counts for the time up to now. */
void task_watcher_pause(struct task_watcher *watcher);

/* What tasks of a process waited for at one place, since the last call. */
struct task_wait_sum {
	pid_t pid;
	const struct task_layout *layout;
	uint64_t code; /* an address in the process where its program is */
	const struct task_place *places;
	size_t count;
	bool is_ready;
	uint64_t looks;
	uint64_t wait_ns;
};

/*
 * Takes all sums, which the callback must not keep; it must not call the watcher. Does not wait for
 * a look that is being made: its other sums come next time.
 */
void task_watcher_take(struct task_watcher *watcher,
		       void (*take)(void *user, const struct task_wait_sum *sum), void *user);

struct task_watcher_counts {
	unsigned processes;	  /* with tasks, so far */
	struct task_counts tasks; /* of all looks */
	uint64_t rounds;
	uint64_t lost;	  /* places that were too many between two calls */
	pid_t hung;	  /* has been read for 5 s now, and nothing else meanwhile; 0: none */
	bool lacks_lists; /* a program is known, but no list of tasks was found in any process */
};
struct task_watcher_counts task_watcher_counts(struct task_watcher *watcher);
/* Why a program could not be looked at, the first of all; NULL: there is none. To be freed. */
char *task_watcher_problem(struct task_watcher *watcher);

#endif
