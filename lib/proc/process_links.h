/*
 * The directory of /proc that has the links of a process: exe, root, fd.
 *
 * The main thread of a process can end before the others (pthread_exit(3)). It stays as a zombie
 * without memory and files, so that the links in /proc/PID lead nowhere. Those of another thread,
 * in /proc/PID/task/TID, still do; only map_files is missing there. Source: proc(5).
 */
#ifndef PROF_PROC_PROCESS_LINKS_H
#define PROF_PROC_PROCESS_LINKS_H

#include <sys/types.h>

/*
 * "PROC/PID", or "PROC/PID/task/TID" of a thread that has links if the main thread has ended. The
 * caller frees it. The process may have ended.
 */
char *process_links(const char *proc, pid_t pid);

#endif
