/*
 * Reads the tasks of one process from outside, while it runs: finds the lists of its runtimes
 * through the thread-local CONTEXT of its threads, walks them, and follows each task's future to
 * what it awaits.
 *
 * Nothing is stopped, so what is read may be in motion, and it is another's memory: lists and
 * depths are bounded, an address that cannot be read ends its path, and a task whose state or
 * discriminants differ when they are read again is left out. Not thread-safe.
 * Source: tokio, runtime/task/{core,state}.rs, runtime/task/list.rs, util/linked_list.rs.
 */
#ifndef PROF_TASKS_TASK_READER_H
#define PROF_TASKS_TASK_READER_H

#include "tasks/layout.h"

#include <stdbool.h>
#include <sys/types.h>

enum {
	TASK_PLACES_MAX = 64,	/* frames of a task */
	TASK_READ_MAX = 2000,	/* tasks that are read each round; of more a random share is */
	TASK_WALK_MAX = 200000, /* entries of lists that are visited each round */
	/* Objects that are visited each round, for all tasks; later tasks are not read. */
	TASK_VISITS_MAX = 1 << 20,
};

/* A frame: a future, and the state that it is in. */
struct task_place {
	uint32_t node, variant;
};

struct task_wait {
	const struct task_place *places; /* from the task's own future to the innermost one */
	size_t count;
	/* Of the task: a task that awaits two futures has two waits of a half. More than one if
	 * only some tasks were read. */
	double share;
	bool is_ready; /* it was woken and waits for a worker */
};

struct task_counts {
	uint64_t tasks;	    /* in lists */
	uint64_t read;	    /* whose wait was found */
	uint64_t running;   /* or completed */
	uint64_t changed;   /* while they were read */
	uint64_t unknown;   /* of a type that the layout lacks */
	uint64_t cut_lists; /* which changed while they were walked, or were too long */
};

struct task_reader;

/* layout is borrowed; bias: what is added to a vaddr of the program's file. */
struct task_reader *task_reader_new(pid_t pid, const struct task_layout *layout, uint64_t bias);
void task_reader_free(struct task_reader *reader);
DEFINE_CLEANUP(task_reader, task_reader_free)

/* Looks for the lists in the threads that the process has now; returns their number. */
size_t task_reader_find_lists(struct task_reader *reader);
/* Reads all tasks once. */
void task_reader_read(struct task_reader *reader,
		      void (*found)(void *user, const struct task_wait *wait), void *user);
/* Of the last round. */
struct task_counts task_reader_counts(const struct task_reader *reader);

#endif
