/*
 * Names (comm, 15 bytes) of processes and threads through a recording: from COMM and FORK records,
 * and from /proc/PID/task/TID/comm for threads that existed before. A process has the name of its
 * first thread. Memory is bounded: of hundreds of thousands, those that were not used for longest
 * are unknown again.
 */
#ifndef PROF_PROC_NAMES_H
#define PROF_PROC_NAMES_H

#include "base/cleanup.h"

#include <stdint.h>
#include <sys/types.h>

struct names;

/*
 * proc: as in address_spaces_new(); NULL for a recording, whose processes are not those in /proc.
 */
struct names *names_new(const char *proc);
void names_free(struct names *names);
DEFINE_CLEANUP(names, names_free)

void names_set(struct names *names, pid_t tid, const char *comm);
/* The next time that names_set() gives the thread the name comm, it gets `name` instead, which can
 * be longer: 63 bytes. */
void names_replace(struct names *names, pid_t tid, const char *comm, const char *name);
/*
 * A new thread or process starts with its parent's name. That of an unknown parent is read from
 * /proc, once for all its children.
 */
void names_fork(struct names *names, pid_t parent_pid, pid_t parent_tid, pid_t tid);
/* The name is kept for late samples until names_forget(). */
void names_exit(struct names *names, pid_t tid, uint64_t time_ns);
/* Forgets threads that ended before before_ns. */
void names_forget(struct names *names, uint64_t before_ns);
/*
 * Valid until two more names were asked for or set. An unknown name is read from /proc once; if the
 * thread has ended, it is
 * ":TID". Idle tasks are "[idle]" ("swapper" in perf); threads that were sampled in their last
 * steps, when they had no id any more (-1), are "[ended]".
 */
const char *names_get(struct names *names, pid_t pid, pid_t tid);

#endif
