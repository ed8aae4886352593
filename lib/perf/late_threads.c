#include "perf/late_threads.h"

void late_threads_deinit(struct late_threads *late_threads)
{
	idmap_deinit(&late_threads->descriptors);
	idmap_deinit(&late_threads->threads);
}

/* Returns IDMAP_NONE if the thread descends from no late thread. */
static uint32_t late_ancestor(const struct late_threads *late_threads, pid_t tid)
{
	return idmap_get(&late_threads->threads, (uint64_t)tid, 0);
}

uint32_t late_threads_add(struct late_threads *late_threads, pid_t tid)
{
	*idmap_put(&late_threads->threads, (uint64_t)tid, 0) = late_threads->late_count;
	return late_threads->late_count++;
}

void late_threads_add_descriptor(struct late_threads *late_threads, uint32_t late, uint64_t id)
{
	*idmap_put(&late_threads->descriptors, id, 0) = late;
}

/* Ignores the late thread's own FORK record, which was written before prof
 * opened the thread. */
static void learn_fork(struct late_threads *late_threads, pid_t parent, pid_t child)
{
	uint32_t late = late_ancestor(late_threads, parent);

	if (late != IDMAP_NONE && late_ancestor(late_threads, child) == IDMAP_NONE)
		*idmap_put(&late_threads->threads, (uint64_t)child, 0) = late;
}

/* The tid may be reused by a child of another parent. */
static void learn_exit(struct late_threads *late_threads, pid_t tid)
{
	idmap_remove(&late_threads->threads, (uint64_t)tid, 0);
}

bool late_threads_counts(struct late_threads *late_threads, const struct record *record,
			 uint64_t id)
{
	uint32_t late = IDMAP_NONE;

	switch (record->type) {
	case RECORD_FORK:
		learn_fork(late_threads, record->fork.parent_tid, record->tid);
		return true;
	case RECORD_EXIT:
		learn_exit(late_threads, record->tid);
		return true;
	case RECORD_SAMPLE:
	case RECORD_SWITCH:
		late = late_ancestor(late_threads, record->tid);
		return late == IDMAP_NONE || idmap_get(&late_threads->descriptors, id, 0) == late;
	default:
		return true;
	}
}
