#include "inside/agent_ring_owners.h"

#include <errno.h>
#include <signal.h>

/*
 * Returns whether the owner no longer exists. After execve(), a main thread
 * keeps its tid.
 */
static bool agent_ring_owners_is_gone(const struct agent_ring_owner *owner,
				      struct process_table *table)
{
	const struct process_entry *process;

	if (kill((pid_t)owner->tid, 0) < 0 && errno == ESRCH)
		return true;
	process = process_table_find(table, (pid_t)owner->tid, (pid_t)owner->tid);
	return process && process->exec_ns > owner->since_ns;
}

void agent_ring_owners_look(struct agent_ring_owners *owners, struct agent_ring rings[INSIDE_RINGS],
			    struct process_table *table, uint64_t now_ns)
{
	for (unsigned i = 0; i < INSIDE_RINGS; i++) {
		struct agent_ring_owner *owner = &owners->items[i];
		struct inside_ring *shared = rings[i].shared;
		uint32_t tid = __atomic_load_n(&shared->owner, __ATOMIC_ACQUIRE);
		uint64_t head = __atomic_load_n(&shared->head, __ATOMIC_RELAXED);

		if (tid != owner->tid || head != owner->head)
			*owner = (struct agent_ring_owner){
				.tid = tid, .head = head, .since_ns = now_ns};
		else if ((pid_t)tid > 0 && agent_ring_owners_is_gone(owner, table))
			__atomic_compare_exchange_n(&shared->owner, &tid, 0, false,
						    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	}
}
