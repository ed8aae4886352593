#include "perf/threads.h"

#include "base/alloc.h"
#include "base/pids.h"

#include <errno.h>
#include <stdlib.h>

void thread_list_deinit(struct thread_list *list)
{
	free(list->items);
	idmap_deinit(&list->seen);
}

void thread_list_add(struct thread_list *list, pid_t tid)
{
	uint32_t *place = idmap_put(&list->seen, (uint64_t)tid, 0);

	if (*place != IDMAP_NONE)
		return;
	*place = (uint32_t)list->count;
	GROW(list->items, list->count, list->room);
	list->items[list->count++] = tid;
}

struct error *thread_list_add_process(struct thread_list *list, pid_t pid)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%d/task", (int)pid);
	CLEANUP(close_dir) DIR *dir = opendir(path);

	if (!dir && (errno == ENOENT || errno == ESRCH))
		return error_errno(ESRCH, "process %d", (int)pid);
	if (!dir)
		return error_errno(errno, "list the threads of process %d", (int)pid);
	for (pid_t tid; (tid = pids_next(dir));)
		thread_list_add(list, tid);
	return NULL;
}
