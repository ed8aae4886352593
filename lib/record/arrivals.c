#include "record/arrivals.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <errno.h>
#include <signal.h>

void arrivals_deinit(struct arrivals *arrivals)
{
	idmap_deinit(&arrivals->sampled);
}

void arrivals_add(struct arrivals *arrivals, pid_t pid)
{
	*idmap_put(&arrivals->sampled, (uint64_t)pid, 0) = 0;
}

void arrivals_feed(struct arrivals *arrivals, const struct record *record)
{
	if (record->type == RECORD_FORK && record->pid != record->fork.parent_pid)
		arrivals_add(arrivals, record->pid);
}

static bool arrivals_has_ended(pid_t pid)
{
	return kill(pid, 0) < 0 && errno == ESRCH;
}

void arrivals_forget_ended(struct arrivals *arrivals)
{
	const struct idmap *sampled = &arrivals->sampled;
	CLEANUP(free_ptr) pid_t *ended = xcalloc(sampled->count + 1, sizeof(*ended));
	size_t count = 0;

	for (uint32_t i = 0; sampled->entries && i <= sampled->mask; i++)
		if (sampled->entries[i].value != IDMAP_NONE &&
		    arrivals_has_ended((pid_t)sampled->entries[i].key))
			ended[count++] = (pid_t)sampled->entries[i].key;
	while (count)
		idmap_remove(&arrivals->sampled, (uint64_t)ended[--count], 0);
}

bool arrivals_is_sampled(const struct arrivals *arrivals, pid_t pid)
{
	return idmap_get(&arrivals->sampled, (uint64_t)pid, 0) != IDMAP_NONE;
}
