#include "perf/coverage.h"

void coverage_deinit(struct coverage *coverage)
{
	idmap_deinit(&coverage->descriptors);
	idmap_deinit(&coverage->threads);
}

/* IDMAP_NONE: it descends from no late thread. */
static uint32_t late_ancestor(const struct coverage *coverage, pid_t tid)
{
	return idmap_get(&coverage->threads, (uint64_t)tid, 0);
}

uint32_t coverage_add(struct coverage *coverage, pid_t tid)
{
	*idmap_put(&coverage->threads, (uint64_t)tid, 0) = coverage->late_count;
	return coverage->late_count++;
}

void coverage_add_descriptor(struct coverage *coverage, uint32_t late, uint64_t id)
{
	*idmap_put(&coverage->descriptors, id, 0) = late;
}

/* A late thread's own FORK record, written before it was opened, changes nothing. */
static void learn_fork(struct coverage *coverage, pid_t parent, pid_t child)
{
	uint32_t late = late_ancestor(coverage, parent);

	if (late != IDMAP_NONE && late_ancestor(coverage, child) == IDMAP_NONE)
		*idmap_put(&coverage->threads, (uint64_t)child, 0) = late;
}

/* Its number may come back with another parent. */
static void learn_exit(struct coverage *coverage, pid_t tid)
{
	idmap_remove(&coverage->threads, (uint64_t)tid, 0);
}

bool coverage_counts(struct coverage *coverage, const struct record *record, uint64_t id)
{
	uint32_t late = IDMAP_NONE;

	switch (record->type) {
	case RECORD_FORK:
		learn_fork(coverage, record->fork.parent_tid, record->tid);
		return true;
	case RECORD_EXIT:
		learn_exit(coverage, record->tid);
		return true;
	case RECORD_SAMPLE:
		late = late_ancestor(coverage, record->tid);
		return late == IDMAP_NONE || idmap_get(&coverage->descriptors, id, 0) == late;
	default:
		return true;
	}
}
