#include "inside/lane_owners.h"

#include <errno.h>
#include <signal.h>

/* A first thread has its number also after execve(). */
static bool is_gone(const struct lane_owner *owner, struct population *population)
{
	const struct inhabitant *process;

	if (kill((pid_t)owner->tid, 0) < 0 && errno == ESRCH)
		return true;
	process = population_find(population, (pid_t)owner->tid, (pid_t)owner->tid);
	return process && process->exec_ns > owner->since_ns;
}

void lane_owners_look(struct lane_owners *owners, struct lane lanes[INSIDE_LANES],
		      struct population *population, uint64_t now_ns)
{
	for (unsigned i = 0; i < INSIDE_LANES; i++) {
		struct lane_owner *owner = &owners->items[i];
		struct inside_lane *shared = lanes[i].shared;
		uint32_t tid = __atomic_load_n(&shared->owner, __ATOMIC_ACQUIRE);
		uint64_t head = __atomic_load_n(&shared->head, __ATOMIC_RELAXED);

		if (tid != owner->tid || head != owner->head)
			*owner = (struct lane_owner){.tid = tid, .head = head, .since_ns = now_ns};
		else if ((pid_t)tid > 0 && is_gone(owner, population))
			__atomic_compare_exchange_n(&shared->owner, &tid, 0, false,
						    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	}
}
