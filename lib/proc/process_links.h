/*
 * Finds the directory in /proc with the links exe, root and fd of a process.
 *
 * The main thread of a process can end before the others (pthread_exit(3)). It
 * stays as a zombie without memory and files, and the links in /proc/PID are
 * broken. The links of other threads, in /proc/PID/task/TID, still work, but
 * there is no map_files. Source: proc(5).
 */
#ifndef PROF_PROC_PROCESS_LINKS_H
#define PROF_PROC_PROCESS_LINKS_H

#include <sys/types.h>

/*
 * Returns "PROC/PID" or, if the main thread has ended, "PROC/PID/task/TID" of a
 * thread with working links. The caller frees it. The process may have ended.
 */
char *process_links(const char *proc, pid_t pid);

#endif
