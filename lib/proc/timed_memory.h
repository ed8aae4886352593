/*
 * Reads the memory of a process on a helper thread (base/timed_call.h), because
 * a page of a userfaultfd range or of a FUSE file may never arrive. If it does
 * not, nothing more is read of that process, nor of other processes of its user
 * unless that is root. Source: proc(5), /proc/PID/mem.
 */
#ifndef PROF_PROC_TIMED_MEMORY_H
#define PROF_PROC_TIMED_MEMORY_H

#include "base/timed_call.h"
#include "proc/memory.h"

/*
 * Returns a caller with a timeout of 100 ms, because a normal page is in memory
 * or in swap.
 */
struct timed_caller *timed_memory_caller_new(void);

/*
 * Returns the place of a process's memory for struct timed_call. Users share
 * one place for all their processes, but each process of root has its own.
 */
uint64_t timed_memory_place(pid_t pid, uid_t user);

/*
 * Reads the parts and sets is_read of each. `proc` is as in
 * address_spaces_new(). `user` is the user of the process, or
 * UNTRUSTED_USER_UNKNOWN.
 */
void timed_memory_read(struct timed_caller *caller, const char *proc, pid_t pid, uid_t user,
		       struct memory_part *parts, size_t count);

#endif
