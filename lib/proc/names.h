/*
 * Tracks the names (comm, 15 bytes) of processes and threads during a
 * recording. Names come from COMM and FORK records, and from
 * /proc/PID/task/TID/comm for threads that existed before. A process has the
 * name of its main thread. Memory is bounded: beyond some hundred thousand
 * names, the least recently used are forgotten.
 */
#ifndef PROF_PROC_NAMES_H
#define PROF_PROC_NAMES_H

#include "base/cleanup.h"

#include <stdint.h>
#include <sys/types.h>

struct names;

/*
 * `proc` is as in address_spaces_new(), or NULL for a recording, whose
 * processes are not those in /proc.
 */
struct names *names_new(const char *proc);
void names_free(struct names *names);
DEFINE_CLEANUP(names, names_free)

void names_set(struct names *names, pid_t tid, const char *comm);
/*
 * Makes the next names_set() of the thread with `comm` set `name` instead,
 * which can have up to 63 bytes.
 */
void names_replace(struct names *names, pid_t tid, const char *comm, const char *name);
/*
 * Gives a new thread or process its parent's name. The name of an unknown
 * parent is read from /proc once.
 */
void names_fork(struct names *names, pid_t parent_pid, pid_t parent_tid, pid_t tid);
/* Keeps the name for late samples until names_forget(). */
void names_exit(struct names *names, pid_t tid, uint64_t time_ns);
/* Forgets threads that ended before before_ns. */
void names_forget(struct names *names, uint64_t before_ns);
/*
 * Returns the name, valid until two more names were requested or set. An
 * unknown name is read from /proc once. If the thread has ended, the name is
 * ":TID". Idle tasks are "[idle]" ("swapper" in perf). Threads that were
 * sampled after they lost their id (-1) while exiting are "[ended]".
 */
const char *names_get(struct names *names, pid_t pid, pid_t tid);

#endif
