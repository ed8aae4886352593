#include "proc/shedding.h"

#include <stdlib.h>

/* The stages in which the processes of one user lose mappings. */
enum stage { STAGE_PAST, STAGE_OLDER_HALF, STAGE_ALL, STAGE_COUNT };

static int shedding_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_user(const void *left, const void *right)
{
	const struct shed_process *a = left, *b = right;

	return shedding_compare(a->user, b->user);
}

static int costliest_first(const void *left, const void *right)
{
	const struct shed_process *a = left, *b = right;

	if (a->user_cost != b->user_cost)
		return shedding_compare(b->user_cost, a->user_cost);
	if (a->user != b->user)
		return shedding_compare(a->user, b->user);
	return a->cost != b->cost ? shedding_compare(b->cost, a->cost)
				  : shedding_compare(a->used_ns, b->used_ns);
}

/*
 * Returns the number of processes at the start of the array that have the same
 * user as the first.
 */
static size_t shedding_group_of(const struct shed_process *processes, size_t count)
{
	size_t own = 1;

	while (own < count && processes[own].user == processes[0].user)
		own++;
	return own;
}

/* Sets the cost of each user, and sorts. Returns the sum. */
static size_t shedding_add_up(struct shed_process *processes, size_t count)
{
	size_t total = 0;

	qsort(processes, count, sizeof(*processes), by_user);
	for (size_t i = 0, own; i < count; i += own) {
		size_t cost = 0;

		own = shedding_group_of(processes + i, count - i);
		for (size_t j = i; j < i + own; j++)
			cost += processes[j].cost;
		for (size_t j = i; j < i + own; j++)
			processes[j].user_cost = cost;
		total += cost;
	}
	qsort(processes, count, sizeof(*processes), costliest_first);
	return total;
}

/* Returns what each user may keep so that the sum is the target. */
static size_t fair_share(const struct shed_process *processes, size_t count, size_t total,
			 size_t target)
{
	size_t users = 0, share = 0;

	for (size_t i = 0; i < count && processes[i].user_cost > share;
	     i += shedding_group_of(processes + i, count - i)) {
		total -= processes[i].user_cost;
		users++;
		share = total < target ? (target - total) / users : 0;
	}
	return share;
}

static void shedding_lose(struct shed_process *process, enum stage stage)
{
	struct regions *regions = process->regions;

	if (stage == STAGE_PAST) {
		if (regions->past_count || regions->ended_count)
			regions_note_loss(regions);
		regions_drop_past(regions);
		process->has_lost_all = regions_empty(regions);
		return;
	}
	if (regions_count(regions))
		regions_note_loss(regions);
	if (stage == STAGE_OLDER_HALF) {
		regions_halve(regions);
	} else {
		regions_deinit(regions);
		process->has_lost_all = true;
	}
}

/*
 * Returns what a stage frees: measured if costs are bytes, otherwise estimated.
 */
static size_t shed_one(struct shed_process *process, enum stage stage, size_t own_bytes)
{
	size_t bytes = process->regions->account->bytes, freed;

	shedding_lose(process, stage);
	if (own_bytes)
		freed = bytes - process->regions->account->bytes +
			(process->has_lost_all ? own_bytes : 0);
	else if (stage == STAGE_PAST)
		freed = 0;
	else
		freed = stage == STAGE_OLDER_HALF ? process->cost / 2 : process->cost;
	if (!own_bytes)
		process->cost -= freed;
	return freed;
}

/*
 * Drops what has ended from all processes, and after that only as much as
 * needed.
 */
static void shed_group(struct shed_process *processes, size_t count, size_t needed,
		       size_t own_bytes)
{
	size_t freed = 0;

	for (enum stage stage = 0; stage < STAGE_COUNT && freed < needed; stage++)
		for (size_t i = 0; i < count; i++) {
			if (freed >= needed && stage != STAGE_PAST)
				break;
			if (!processes[i].has_lost_all)
				freed += shed_one(&processes[i], stage, own_bytes);
		}
}

void shed(struct shed_process *processes, size_t count, size_t target, size_t own_bytes)
{
	size_t total = shedding_add_up(processes, count);
	size_t share = fair_share(processes, count, total, target);

	for (size_t i = 0, own; total > target && i < count; i += own) {
		own = shedding_group_of(processes + i, count - i);
		if (processes[i].user_cost > share)
			shed_group(processes + i, own, processes[i].user_cost - share, own_bytes);
	}
}
