#include "proc/process_links.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/pids.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

/*
 * Threads that are ending are listed only briefly, so one of the first has
 * links.
 */
enum { THREADS_MAX = 64 };

/*
 * The kernel refuses access to an existing link, but reports a missing one as
 * missing. Takes ownership of name.
 */
static bool has_links(char *name)
{
	CLEANUP(free_ptr) char *path = name;
	char target[1];

	return readlink(path, target, sizeof(target)) >= 0 || errno != ENOENT;
}

char *process_links(const char *proc, pid_t pid)
{
	CLEANUP(free_ptr) char *tasks = NULL;
	CLEANUP(close_dir) DIR *dir = NULL;
	pid_t tid;

	if (has_links(xasprintf("%s/%d/root", proc, (int)pid)))
		return xasprintf("%s/%d", proc, (int)pid);
	tasks = xasprintf("%s/%d/task", proc, (int)pid);
	dir = opendir(tasks);
	for (unsigned i = 0; i < THREADS_MAX && (tid = pids_next(dir)); i++)
		if (has_links(xasprintf("%s/%d/root", tasks, (int)tid)))
			return xasprintf("%s/%d", tasks, (int)tid);
	return xasprintf("%s/%d", proc, (int)pid);
}
