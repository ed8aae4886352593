/*
 * Releases the rings of threads that died while they wrote a record, because
 * they were killed or another thread called execve().
 */
#ifndef PROF_INSIDE_RING_OWNERS_H
#define PROF_INSIDE_RING_OWNERS_H

#include "inside/agent_ring.h"
#include "inside/process_table.h"

struct agent_ring_owner {
	uint32_t tid;
	uint64_t head;	   /* head of the ring at the last change */
	uint64_t since_ns; /* when head last changed */
};

struct agent_ring_owners {
	struct agent_ring_owner items[INSIDE_RINGS];
};

/*
 * Call this about once per second. Releases the ring of an owner that no longer
 * exists and has not written since the last call.
 */
void agent_ring_owners_look(struct agent_ring_owners *owners, struct agent_ring rings[INSIDE_RINGS],
			    struct process_table *table, uint64_t now_ns);

#endif
