/*
 * The threads of processes, as /proc lists them.
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
	struct idmap seen; /* threads that were listed once are not listed again */
};

void thread_list_deinit(struct thread_list *list);

void thread_list_add(struct thread_list *list, pid_t tid);
/* Adds the threads of a process that were not listed yet. ESRCH: no such process. */
MUST_CHECK struct error *thread_list_add_process(struct thread_list *list, pid_t pid);

#endif
