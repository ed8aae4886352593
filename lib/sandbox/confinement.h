/*
 * Irrevocably drops what a parser of untrusted files does not need in the
 * calling process: user, groups, capabilities, files, network, other processes,
 * and unlimited memory and CPU time.
 *
 * The measures are independent: if one is circumvented, the others still hold.
 * Landlock is applied as far as the kernel supports it. The user is changed
 * only where the kernel permits it (not for an unprivileged user or in a
 * container with one user). All other measures are required.
 *
 * Source: credentials(7), capabilities(7), getrlimit(2), prctl(2), landlock(7).
 */
#ifndef PROF_SANDBOX_CONFINEMENT_H
#define PROF_SANDBOX_CONFINEMENT_H

#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

struct confinement_memory {
	uint64_t mapped_bytes; /* total, for RLIMIT_AS */
	uint64_t data_bytes;   /* private and writable, for RLIMIT_DATA */
};

struct confinement {
	uid_t uid; /* user to become if prof is root */
	/* The process whose thread forked this one; this process ends with
	 * it. */
	pid_t parent;
	int fd; /* the only descriptor that stays open */
	struct confinement_memory present;
	/* Private memory in addition to the present amount. */
	uint64_t memory_bytes;
	unsigned cpu_seconds;
};

/* Measures the mapped memory of this process as the limits count it. Source:
 * proc_pid_statm(5). */
MUST_CHECK struct error *confinement_measure(struct confinement_memory *ret);

/* The process must have one thread. After a failure the process may be confined
 * in part and should exit. */
MUST_CHECK struct error *confinement_enter(const struct confinement *confinement);

#endif
