/*
 * Processes whose memory could not be read in time, and which must not be read
 * again.
 *
 * A process that makes reads of its memory hang (untrusted_read.h) costs a
 * thread and its buffers. Therefore the number of such processes is limited,
 * and no other process of their users is read either. Root and prof's own user
 * are exempt, because they do not attack prof. If a process has ended before it
 * is added, its user is unknown, and no process of any other user is read. One
 * thread adds processes; several may query them.
 */
#ifndef PROF_BASE_HUNG_PROCESSES_H
#define PROF_BASE_HUNG_PROCESSES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

enum { HUNG_PROCESSES_MAX = 16 };

/* Zeroed: empty. */
struct hung_processes {
	struct {
		_Atomic pid_t pid;
		/*
		 * 0 if trusted (only that process is excluded), (uid_t)-1 if
		 * unknown.
		 */
		_Atomic uid_t user;
	} items[HUNG_PROCESSES_MAX];
	atomic_size_t count;
};

/* Returns false if there are HUNG_PROCESSES_MAX already. */
bool hung_processes_add(struct hung_processes *hung, pid_t pid);
bool hung_processes_have(const struct hung_processes *hung, pid_t pid);

/*
 * Stores the effective user from the text of /proc/PID/status. Returns false if
 * it is missing.
 */
bool hung_processes_user(const char *status, uid_t *ret);

#endif
