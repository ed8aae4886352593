#include "waiting/orphaned_waits.h"

#include "base/alloc.h"

#include <stdlib.h>

struct process_waits {
	pid_t pid;
	struct unmet_waits waits;
};

void orphaned_waits_deinit(struct orphaned_waits *orphans)
{
	free(orphans->items);
	idmap_deinit(&orphans->by_pid);
	*orphans = (struct orphaned_waits){0};
}

static struct unmet_waits *waits_of(struct orphaned_waits *orphans, pid_t pid)
{
	uint32_t *index = idmap_put(&orphans->by_pid, (uint64_t)pid, 0);

	if (*index == IDMAP_NONE) {
		*index = orphans->count;
		GROW(orphans->items, orphans->count, orphans->room);
		orphans->items[orphans->count++] = (struct process_waits){.pid = pid};
	}
	return &orphans->items[*index].waits;
}

void orphaned_waits_add(struct orphaned_waits *orphans, pid_t pid, const struct unmet_waits *waits)
{
	struct unmet_waits *sum = waits_of(orphans, pid);

	if (!sum->count || waits->start_ns < sum->start_ns)
		sum->start_ns = waits->start_ns;
	sum->end_ns = waits->end_ns > sum->end_ns ? waits->end_ns : sum->end_ns;
	sum->weight_ns += waits->weight_ns;
	sum->count += waits->count;
}

static void orphaned_waits_give_process(struct process_waits *process, const struct wait_sink *sink,
					wait_place place)
{
	wait_sink_give(sink, process->pid, -1,
		       unmet_waits_part(&process->waits, place, PLACE_UNKNOWN));
	process->waits = (struct unmet_waits){0};
}

void orphaned_waits_give(struct orphaned_waits *orphans, const struct wait_sink *sink, pid_t pid,
			 wait_place place)
{
	uint32_t index = idmap_get(&orphans->by_pid, (uint64_t)pid, 0);

	if (index != IDMAP_NONE)
		orphaned_waits_give_process(&orphans->items[index], sink, place);
}

void orphaned_waits_give_all(struct orphaned_waits *orphans, const struct wait_sink *sink)
{
	for (uint32_t i = 0; i < orphans->count; i++)
		orphaned_waits_give_process(&orphans->items[i], sink, PLACE_UNKNOWN);
	orphaned_waits_deinit(orphans);
}
