/*
 * Converts names of files to the root directory of a process.
 *
 * The name that the kernel gives for a mapped file depends on a root directory.
 * PERF_RECORD_MMAP2 contains the name in the root of the process that maps it.
 * /proc/PID/maps and the link /proc/PID/root contain names in the root of the
 * reader. They differ after chroot(2): in a process with the root /srv/image,
 * /srv/image/opt/shop is /opt/shop. A mount that is unreachable from the root
 * is named from the root of its mount namespace in both cases. Source:
 * prepend_path() in fs/d_path.c.
 */
#ifndef PROF_PROC_PROCESS_ROOT_H
#define PROF_PROC_PROCESS_ROOT_H

#include <sys/types.h>

/*
 * Returns the name of a mapped file below /proc/PID/root: `path` without the
 * name of the root if it starts with that, otherwise `path`. The caller frees
 * it. The process may have ended.
 */
char *process_root_name(const char *proc, pid_t pid, const char *path);

#endif
