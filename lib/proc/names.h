/*
 * The names (comm, 15 bytes) of processes and threads through a recording: from COMM and FORK
 * records, from /proc/PID/task/TID/comm for what lived before it. A process is named by its first
 * thread.
 */
#ifndef PROF_PROC_NAMES_H
#define PROF_PROC_NAMES_H

#include "base/cleanup.h"

#include <stdint.h>
#include <sys/types.h>

struct names;

/* proc as in spaces_new(); NULL: of a recording, whose processes are none of those in /proc. */
struct names *names_new(const char *proc);
void names_free(struct names *names);
DEFINE_CLEANUP(names, names_free)

void names_set(struct names *names, pid_t tid, const char *comm);
/* The child, thread or process, starts with its parent's name. */
void names_fork(struct names *names, pid_t parent_tid, pid_t tid);
/* The name is kept for samples that come late, until names_forget(). */
void names_exit(struct names *names, pid_t tid, uint64_t time_ns);
/* Nobody will ask for threads that ended before. */
void names_forget(struct names *names, uint64_t before_ns);
/* Lives as long as names. Unknown: read from /proc once; gone there too: ":TID", and "swapper" for
 * the idle threads, as perf names them. */
const char *names_get(struct names *names, pid_t pid, pid_t tid);

#endif
