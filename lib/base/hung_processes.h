/*
 * Processes whose memory could not be read in time, which are not to be read again.
 *
 * A process that makes reads of its memory hang (foreign_read.h) costs a thread and its buffers. So
 * the number of such processes is bounded, and of a user who has one no other process is read
 * either, unless that user is root or prof's own: those do not attack. If a process has ended
 * before it is added, its user is unknown, and no process of any other user is read. Several
 * threads may ask while one adds.
 */
#ifndef PROF_BASE_HUNG_PROCESSES_H
#define PROF_BASE_HUNG_PROCESSES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

enum { HUNG_PROCESSES_MAX = 16 };

/* Zeroed: none. */
struct hung_processes {
	struct {
		_Atomic pid_t pid;
		_Atomic uid_t user; /* 0: trusted, that process only; (uid_t)-1: unknown */
	} items[HUNG_PROCESSES_MAX];
	atomic_size_t count;
};

/* False: there are HUNG_PROCESSES_MAX already. */
bool hung_processes_add(struct hung_processes *hung, pid_t pid);
bool hung_processes_have(const struct hung_processes *hung, pid_t pid);

/* The effective user in the text of /proc/PID/status. False if it is not there. */
bool hung_processes_user(const char *status, uid_t *ret);

#endif
