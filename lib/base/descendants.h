/*
 * The children of processes, their children, and so on, as listed in /proc.
 * Source: proc_pid_stat(5).
 *
 * A process that is forked during the listing may be missing. A process whose
 * parent has ended is missing too, because it has another parent then.
 */
#ifndef PROF_BASE_DESCENDANTS_H
#define PROF_BASE_DESCENDANTS_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Lists the descendants of several processes, each once, without the processes
 * themselves. The calling process and its descendants are omitted, unless it is
 * one of the pids. The caller frees *ret.
 */
void descendants_list(const pid_t *pids, size_t count, pid_t **ret, size_t *ret_count);

/* Returns the parent of a process, or 0 if it has none or has ended. */
pid_t descendants_parent_of(pid_t pid);
/*
 * Returns the parent's id from the text of /proc/PID/stat, or 0 if the text is
 * malformed.
 */
pid_t descendants_parent(const char *stat);

#endif
