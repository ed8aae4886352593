/*
 * What a child of prof gives up that talks to servers: it may use the network and read files with
 * the rights of the user, and nothing else of prof's.
 *
 * It has no descriptor but its channel, prints nothing, has no capabilities, and under sudo it is
 * the user who has called it, with that user's home directory. Memory, CPU time, descriptors and
 * files that it writes are limited. It ends with prof. Signals have their default actions, but
 * those that a terminal sends are for prof and ignored here. What it sends is to be treated as
 * hostile.
 */
#ifndef PROF_SANDBOX_CONNECTED_H
#define PROF_SANDBOX_CONNECTED_H

#include "sandbox/confinement.h"

struct connected {
	int channel;  /* the descriptor that stays open */
	pid_t parent; /* whose thread has forked us */
	uid_t caller; /* for whom root's prof runs (sudo); 0: nobody else */
	struct confinement_memory present;
	uint64_t memory_bytes; /* private memory beyond what is present */
	uint64_t file_bytes;   /* of a file that it writes */
	unsigned cpu_seconds, descriptors;
};

/* In the child. After a failure it should end. */
MUST_CHECK struct error *connected_enter(const struct connected *connected);

#endif
