/*
 * Names of files in the root directory of a process.
 *
 * The kernel names a mapped file from the root of whoever asks: PERF_RECORD_MMAP2 has the name in
 * the root of the process that maps it; /proc/PID/maps, and the link /proc/PID/root, have names in
 * the root of the reader. After chroot(2) these differ: a process in /srv/image calls
 * /srv/image/opt/shop just /opt/shop. A mount that the reader cannot reach is named from the root
 * of its mount namespace, in both of them. Source: prepend_path() in fs/d_path.c.
 */
#ifndef PROF_PROC_PROCESS_ROOT_H
#define PROF_PROC_PROCESS_ROOT_H

#include <sys/types.h>

/*
 * The name of a mapped file below /proc/PID/root, to be freed: path without the root's own name if
 * it begins with that, else path. The process may have ended.
 */
char *process_root_name(const char *proc, pid_t pid, const char *path);

#endif
