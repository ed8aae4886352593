/*
 * A model of the mappings of a few processes: the last change determines what
 * is mapped. Tests compare the region tables with it.
 */
#ifndef PROF_TESTS_REGIONS_MODEL_H
#define PROF_TESTS_REGIONS_MODEL_H

#include "proc/regions.h"

#include <stdlib.h>

/* The numbers are small enough that nothing is dropped. */
enum { MODEL_PROCESSES = 3, MODEL_ADDRESSES = 16, MODEL_CHANGES = 24 };

struct model_change {
	unsigned process;
	uint64_t time_ns;
	/* MODULE_NONE if not changed, 0 if nothing is mapped */
	module_id modules[MODEL_ADDRESSES];
};

struct model {
	struct region_account account;
	struct regions processes[MODEL_PROCESSES];
	struct model_change changes[MODEL_CHANGES];
	unsigned count;
};

static inline void model_init(struct model *model)
{
	*model = (struct model){.count = 0};
	for (unsigned i = 0; i < MODEL_PROCESSES; i++)
		model->processes[i].account = &model->account;
}

static inline module_id model_expect(const struct model *model, unsigned process, uint64_t time_ns,
				     unsigned pc)
{
	module_id module = 0;
	uint64_t last_ns = 0;

	for (unsigned i = 0; i < model->count; i++) {
		const struct model_change *change = &model->changes[i];

		if (change->process != process || change->time_ns > time_ns ||
		    change->time_ns < last_ns || change->modules[pc] == MODULE_NONE)
			continue;
		module = change->modules[pc];
		last_ns = change->time_ns;
	}
	return module;
}

static inline void model_map(struct model *model, unsigned process, uint64_t time_ns,
			     unsigned start, unsigned end, module_id module)
{
	struct model_change *change = &model->changes[model->count++];
	struct region region = {
		.start = start, .end = end, .offset = start, .from_ns = time_ns, .module = module};

	*change = (struct model_change){.process = process, .time_ns = time_ns};
	for (unsigned pc = 0; pc < MODEL_ADDRESSES; pc++)
		change->modules[pc] = pc >= start && pc < end ? module : MODULE_NONE;
	regions_map(&model->processes[process], &region);
}

static inline void model_clear(struct model *model, unsigned process, uint64_t time_ns)
{
	model->changes[model->count++] = (struct model_change){.process = process,
							       .time_ns = time_ns};
	regions_clear(&model->processes[process], time_ns);
}

static inline void model_fork(struct model *model, unsigned parent, unsigned child,
			      uint64_t time_ns)
{
	struct model_change change = {.process = child, .time_ns = time_ns};

	for (unsigned pc = 0; pc < MODEL_ADDRESSES; pc++)
		change.modules[pc] = model_expect(model, parent, time_ns, pc);
	model->changes[model->count++] = change;
	regions_fork(&model->processes[child], &model->processes[parent], time_ns);
}

/* Returns true if each lookup from that time on returns what is expected. */
static inline bool model_agrees(const struct model *model, uint64_t from_ns, uint64_t until_ns)
{
	for (unsigned process = 0; process < MODEL_PROCESSES; process++)
		for (uint64_t time_ns = from_ns; time_ns < until_ns; time_ns++)
			for (unsigned pc = 0; pc < MODEL_ADDRESSES; pc++) {
				const struct region *found =
					regions_find(&model->processes[process], time_ns, pc);

				if ((found ? found->module : 0) !=
				    model_expect(model, process, time_ns, pc))
					return false;
				if (found && found->offset + pc - found->start != pc)
					return false;
			}
	return true;
}

/* Returns true if regions are sorted and do not overlap, and chunks are not too
 * small. Adds up the bytes. */
static inline bool table_is_sound(struct region_table *table, uint64_t stamp, size_t *bytes)
{
	struct region_place place = {.part = 0};
	const struct region *region;
	uint64_t end = 0;
	size_t count = 0;

	if (!table || table->stamp == stamp)
		return true;
	table->stamp = stamp;
	*bytes += sizeof(*table) + table->room * sizeof(*table->parts);
	for (size_t i = 0; i < table->count; i++) {
		struct region_chunk *chunk = table->parts[i].chunk;

		if (!chunk->count || table->parts[i].start != chunk->regions[0].start)
			return false;
		if (i && table->parts[i - 1].chunk->count + chunk->count <= CHUNK_REGIONS / 2)
			return false;
		if (chunk->stamp != stamp)
			*bytes += sizeof(*chunk) + chunk->room * sizeof(*chunk->regions);
		chunk->stamp = stamp;
	}
	for (; (region = region_table_next(table, &place)); count++, end = region->end)
		if (region->start < end || region->start >= region->end)
			return false;
	return count == table->region_count;
}

static inline bool regions_are_sound(struct regions *processes, size_t count,
				     struct region_account *account)
{
	uint64_t stamp = ++account->stamp;
	size_t bytes = 0;

	for (size_t i = 0; i < count; i++) {
		const struct regions *regions = &processes[i];

		if (!table_is_sound(regions->live, stamp, &bytes) ||
		    !table_is_sound(regions->base, stamp, &bytes))
			return false;
		for (size_t j = 0; j < regions->ended_count; j++)
			if (!table_is_sound(regions->ended[j].table, stamp, &bytes) ||
			    !table_is_sound(regions->ended[j].base, stamp, &bytes))
				return false;
		bytes += regions->past_room * sizeof(*regions->past) +
			 regions->ended_room * sizeof(*regions->ended) +
			 regions->clear_room * sizeof(*regions->clears);
	}
	return bytes == account->bytes;
}

/* Returns false if not all memory was released. */
static inline bool model_deinit(struct model *model)
{
	for (unsigned i = 0; i < MODEL_PROCESSES; i++)
		regions_deinit(&model->processes[i]);
	return !model->account.bytes;
}

#endif
