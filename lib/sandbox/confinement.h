/*
 * Gives up, for the calling process and for good, what a parser of foreign files does not need:
 * user, groups, capabilities, files, network, other processes, memory and time without a limit.
 *
 * Each measure stands alone: should one be circumvented, the others still hold. Landlock is
 * applied as far as the kernel has it; the user stays where the kernel does not let it be changed
 * (an ordinary user, a container with one user); all else is required.
 *
 * Source: credentials(7), capabilities(7), getrlimit(2), prctl(2), landlock(7).
 */
#ifndef PROF_SANDBOX_CONFINEMENT_H
#define PROF_SANDBOX_CONFINEMENT_H

#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

struct confinement_memory {
	uint64_t mapped_bytes; /* in all: RLIMIT_AS */
	uint64_t data_bytes;   /* private and writable: RLIMIT_DATA */
};

struct confinement {
	uid_t uid;    /* to become, if we are root */
	pid_t parent; /* whose thread has forked us: its end is ours */
	int fd;	      /* stays open, as nothing else does */
	struct confinement_memory present;
	uint64_t memory_bytes; /* private memory beyond what is present */
	unsigned cpu_seconds;
};

/* What this process has mapped, as limits count it. Source: proc_pid_statm(5). */
MUST_CHECK struct error *confinement_measure(struct confinement_memory *ret);

/* The process must have one thread. After a failure it may be confined in part: it should end. */
MUST_CHECK struct error *confinement_enter(const struct confinement *confinement);

#endif
