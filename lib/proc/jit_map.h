/*
 * Opens the files that a process writes about the code that it compiles at run
 * time: its jitdump, which it maps, and its perf map. The perf map is
 * /tmp/perf-PID.map in the process's own root, with its own pid (the last NSpid
 * of PROC/PID/status). If the process has ended and its root was prof's, the
 * file is searched there. Source: tools/perf/Documentation/jit-interface.txt.
 *
 * Anyone can write to /tmp under any process's name. Like in perf, the file
 * must belong to the process's effective user, to root or to prof's user, and
 * must not be a symbolic link.
 */
#ifndef PROF_PROC_JIT_MAP_H
#define PROF_PROC_JIT_MAP_H

#include "base/timed_open.h"

#include <sys/types.h>

/*
 * Returns the effective user of a process, or UNTRUSTED_USER_UNKNOWN if it has
 * ended. `proc` is usually "/proc".
 */
uid_t process_user(const char *proc, pid_t pid);
/* Returns the process's pid in its own namespace, or `pid` if it has ended. */
pid_t process_own_pid(const char *proc, pid_t pid);

/*
 * Opens the perf map. Returns a descriptor, or -1 if there is none. `last_user`
 * is the last known user of the process, in case it has ended.
 */
int jit_map_open(struct timed_caller *caller, const char *proc, pid_t pid, uid_t last_user);

/*
 * Like jit_map_open(), for a process that may have ended but whose root is
 * still open. `own_pid` and `user` are the last known ones.
 */
int jit_map_open_below(struct timed_caller *caller, int root, pid_t own_pid, uid_t user);

/* Opens a jitdump with a known path. Returns a descriptor, or -1. */
int jit_dump_open(struct timed_caller *caller, const char *proc, pid_t pid, const char *path);

#endif
