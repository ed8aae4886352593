/*
 * The children of processes, their children, and so on, as /proc lists them. Source:
 * proc_pid_stat(5).
 *
 * A process that is forked during the listing may be missing. So is a process whose parent has
 * ended: it has another parent then.
 */
#ifndef PROF_BASE_DESCENDANTS_H
#define PROF_BASE_DESCENDANTS_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Lists the descendants of some processes, each once, without these processes themselves. The
 * calling process and its descendants are omitted, unless it is one of the pids. The caller frees
 * *ret.
 */
void descendants_list(const pid_t *pids, size_t count, pid_t **ret, size_t *ret_count);

/* The parent of a process; 0: it has none, or has ended. */
pid_t descendants_parent_of(pid_t pid);
/* The parent's id in the text of /proc/PID/stat; 0: the text is damaged. */
pid_t descendants_parent(const char *stat);

#endif
