/*
 * Opens what a process writes of code that it compiles at run time: its jitdump, which it maps, and
 * its list of symbols:
 * /tmp/perf-PID.map in its own root and with its own pid (the last NSpid of PROC/PID/status), or,
 * when the process has ended and its root was prof's, in that. Source:
 * tools/perf/Documentation/jit-interface.txt.
 *
 * Anybody may write into /tmp, under any process's name. As for perf, the list must belong to the
 * process's effective user, to root or to prof's user, and must not be a symbolic link.
 */
#ifndef PROF_PROC_JIT_MAP_H
#define PROF_PROC_JIT_MAP_H

#include "base/timed_open.h"

#include <sys/types.h>

/* The effective user of a process; FOREIGN_USER_UNKNOWN if it has ended. proc: usually "/proc". */
uid_t process_user(const char *proc, pid_t pid);
/* Its id in its own namespace; pid if it has ended. */
pid_t process_own_pid(const char *proc, pid_t pid);

/*
 * Returns a descriptor; -1 if there is no such list. last_user: the user of the process when it was
 * last seen, for one that has ended.
 */
int jit_map_open(struct timed_caller *caller, const char *proc, pid_t pid, uid_t last_user);

/*
 * The same for a process that may have ended, whose root is still open: a descriptor. own_pid,
 * user: as they were when it was last seen.
 */
int jit_map_open_below(struct timed_caller *caller, int root, pid_t own_pid, uid_t user);

/* The same for a jitdump, whose path is known. */
int jit_dump_open(struct timed_caller *caller, const char *proc, pid_t pid, const char *path);

#endif
