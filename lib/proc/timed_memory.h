/*
 * Reads the memory of a process on a helper thread (base/timed_call.h): a page of a userfaultfd
 * range, or of a file of a FUSE server, may never come. Where it does not come, nothing more is
 * read of the process, nor of others of its user unless that is root. Source: proc(5),
 * /proc/PID/mem.
 */
#ifndef PROF_PROC_TIMED_MEMORY_H
#define PROF_PROC_TIMED_MEMORY_H

#include "base/timed_call.h"
#include "proc/memory.h"

/* A caller for these reads, which may sleep for 100 ms: memory is there at once, or in swap. */
struct timed_caller *timed_memory_caller_new(void);

/*
 * The place of a process's memory, as in struct timed_call: users hold up themselves; root is not
 * blamed for one process.
 */
uint64_t timed_memory_place(pid_t pid, uid_t user);

/*
 * Reads the parts and sets is_read of each. proc: as in address_spaces_new(). user: of the process,
 * or FOREIGN_USER_UNKNOWN.
 */
void timed_memory_read(struct timed_caller *caller, const char *proc, pid_t pid, uid_t user,
		       struct memory_part *parts, size_t count);

#endif
