/*
 * Drops privileges of a child of prof that talks to servers. It may use the
 * network and read files with the permissions of the user.
 *
 * It has no descriptor but its channel, prints nothing and has no capabilities.
 * Under sudo it becomes the invoking user, with that user's home directory.
 * Memory, CPU time, descriptors and the size of written files are limited. It
 * ends with prof. Signals have their default actions, except those from a
 * terminal, which are meant for prof and ignored here. All of its messages are
 * untrusted.
 */
#ifndef PROF_SANDBOX_CONNECTED_H
#define PROF_SANDBOX_CONNECTED_H

#include "sandbox/confinement.h"

struct connected {
	int channel;  /* the descriptor that stays open */
	pid_t parent; /* the process whose thread forked this one */
	uid_t caller; /* the user who invoked prof through sudo, or 0 */
	struct confinement_memory present;
	/* Private memory in addition to the present amount. */
	uint64_t memory_bytes;
	uint64_t file_bytes; /* maximum size of a file that it writes */
	unsigned cpu_seconds, descriptors;
};

/* Called in the child. After a failure the child should exit. */
MUST_CHECK struct error *connected_enter(const struct connected *connected);

#endif
