/*
 * Reads the tasks of one running process from outside. Finds the task lists of
 * its runtimes through the thread-local CONTEXT of its threads, walks them, and
 * follows each task's future to what it awaits.
 *
 * The process is not stopped, so its memory may change during the read, and it
 * may be hostile. Lists and depths are bounded. An unreadable address ends its
 * path. A task is omitted if a second read finds a different state or
 * discriminant. Not thread-safe. Source: tokio, runtime/task/{core,state}.rs,
 * runtime/task/list.rs, util/linked_list.rs.
 */
#ifndef PROF_TASKS_TASK_READER_H
#define PROF_TASKS_TASK_READER_H

#include "tasks/layout.h"

#include <stdbool.h>
#include <sys/types.h>

enum {
	TASK_PLACES_MAX = 64,	/* frames per task */
	TASK_READ_MAX = 2000,	/* tasks read per round, chosen at random if there are more */
	TASK_WALK_MAX = 200000, /* list entries visited per round */
	/*
	 * The objects visited per round for all tasks. Tasks after that are not
	 * read.
	 */
	TASK_VISITS_MAX = 1 << 20,
};

/* A frame: a future and its state. */
struct task_place {
	uint32_t node, variant;
};

struct task_wait {
	const struct task_place *places; /* from the task's own future to the innermost one */
	size_t count;
	/*
	 * The weight of this wait. A task that awaits two futures has two waits
	 * with half the weight each. If only some tasks were read, their
	 * weights are scaled up.
	 */
	double share;
	bool is_ready; /* it was woken and waits for a worker */
};

struct task_counts {
	uint64_t tasks;	    /* entries of the lists */
	uint64_t read;	    /* a wait was found */
	uint64_t running;   /* running or completed */
	uint64_t changed;   /* omitted because they changed during the read */
	uint64_t unknown;   /* the layout lacks their type */
	uint64_t cut_lists; /* Lists that changed during the walk or were too long. */
};

struct task_reader;

/* Borrows the layout. `bias` is added to a vaddr of the program's file. */
struct task_reader *task_reader_new(pid_t pid, const struct task_layout *layout, uint64_t bias);
void task_reader_free(struct task_reader *reader);
DEFINE_CLEANUP(task_reader, task_reader_free)

/*
 * Searches the process's current threads for lists. Returns the number of
 * lists.
 */
size_t task_reader_find_lists(struct task_reader *reader);
/* Reads all tasks once, and calls `found` for each wait. */
void task_reader_read(struct task_reader *reader,
		      void (*found)(void *user, const struct task_wait *wait), void *user);
/* Returns the counts of the last round. */
struct task_counts task_reader_counts(const struct task_reader *reader);

#endif
