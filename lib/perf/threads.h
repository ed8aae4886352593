/*
 * Lists threads from /proc/PID/task.
 */
#ifndef PROF_PERF_THREADS_H
#define PROF_PERF_THREADS_H

#include "base/error.h"
#include "base/idmap.h"

#include <stddef.h>
#include <sys/types.h>

struct thread_list {
	pid_t *items;
	size_t count, room;
	struct idmap seen; /* lists each thread once */
};

void thread_list_deinit(struct thread_list *list);

void thread_list_add(struct thread_list *list, pid_t tid);
/* Adds the threads of a process that are not in the list yet. The error number
 * is ESRCH if the process does not exist. */
MUST_CHECK struct error *thread_list_add_process(struct thread_list *list, pid_t pid);

#endif
