#include "cmd/doctor/module_weights.h"

#include "base/alloc.h"
#include "base/idmap.h"

#include <stdlib.h>

static bool is_code(enum profile_module_kind kind)
{
	return kind != PROFILE_MODULE_NONE && kind != PROFILE_MODULE_SYNTHETIC &&
	       kind != PROFILE_MODULE_INTERPRETED;
}

/* JIT code of all processes is one row. */
static uint32_t *make_rows(const struct profile *profile, struct module_list *list)
{
	uint32_t count = profile_module_count(profile);
	uint32_t *rows = xcalloc(count, sizeof(*rows));
	struct idmap by_name = {0};

	for (uint32_t id = 0; id < count; id++) {
		const struct profile_module *module = profile_get_module(profile, id);
		uint32_t *row;

		rows[id] = NO_ROW;
		if (!is_code(module->kind))
			continue;
		row = idmap_put(&by_name, (uint64_t)module->path << 32 | module->build_id,
				module->kind);
		if (*row == IDMAP_NONE) {
			*row = (uint32_t)list->count;
			module_list_add(list, module->kind, profile_string(profile, module->path),
					profile_string(profile, module->build_id));
		}
		rows[id] = *row;
	}
	idmap_deinit(&by_name);
	return rows;
}

/* By stack: the samples of it and of all stacks below it in the trie; to be freed. */
static uint64_t *samples_through(const struct profile *profile)
{
	const struct profile_stacks stacks = profile_stacks(profile);
	const struct profile_samples samples = profile_samples(profile);
	uint64_t *through = xcalloc(stacks.count, sizeof(*through));

	for (uint64_t i = 0; i < samples.count; i++)
		through[samples.items[i].stack] += samples.items[i].samples;
	for (stack_id id = stacks.count; id-- > 1;)
		through[stacks.items[id].parent] += through[id];
	return through;
}

/* Properties of a frame. */
enum { OF_MODULE = 1, UNNAMED = 2, LINELESS = 4 };

struct scan {
	const struct profile *profile;
	const uint32_t *rows;
};

static uint32_t row_of(const struct scan *scan, const struct profile_frame *frame)
{
	return frame->module < profile_module_count(scan->profile) ? scan->rows[frame->module]
								   : NO_ROW;
}

static unsigned properties_of(const struct profile_frame *frame)
{
	if (!frame->line_count)
		return OF_MODULE | UNNAMED;
	return frame->lines[0].line ? OF_MODULE : OF_MODULE | LINELESS;
}

#define ANY_ROW (NO_ROW - 1)

/* The properties of a stack's frame that no frame of the row nearer to the root has: a sample
 * counts once. */
static unsigned new_properties(const struct scan *scan, stack_id id, uint32_t row)
{
	const struct profile_stacks stacks = profile_stacks(scan->profile);
	struct profile_frame frame = profile_get_frame(scan->profile, stacks.items[id].frame);
	unsigned properties = properties_of(&frame);

	while (properties && (id = stacks.items[id].parent) != STACK_EMPTY) {
		uint32_t above;

		frame = profile_get_frame(scan->profile, stacks.items[id].frame);
		above = row_of(scan, &frame);
		if (above == row || (row == ANY_ROW && above != NO_ROW))
			properties &= ~properties_of(&frame);
	}
	return properties;
}

static void add_placeless(const struct scan *scan, struct module_list *list)
{
	const struct profile_stacks stacks = profile_stacks(scan->profile);
	const struct profile_samples samples = profile_samples(scan->profile);

	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];
		struct profile_frame frame;
		uint32_t row;

		if (sample->stack == STACK_EMPTY)
			continue;
		frame = profile_get_frame(scan->profile, stacks.items[sample->stack].frame);
		row = row_of(scan, &frame);
		if (row != NO_ROW && properties_of(&frame) & LINELESS)
			list->items[row].placeless += sample->samples;
	}
}

uint32_t *module_weights(const struct profile *profile, struct module_list *ret)
{
	const struct profile_stacks stacks = profile_stacks(profile);
	CLEANUP(free_ptr) uint64_t *samples = samples_through(profile);
	struct scan scan = {.profile = profile};
	uint32_t *rows;

	*ret = (struct module_list){0};
	scan.rows = rows = make_rows(profile, ret);
	ret->samples = samples[STACK_EMPTY];
	for (stack_id id = 1; id < stacks.count; id++) {
		struct profile_frame frame = profile_get_frame(profile, stacks.items[id].frame);
		uint32_t row = row_of(&scan, &frame);
		unsigned properties;

		if (row == NO_ROW || !samples[id])
			continue;
		properties = new_properties(&scan, id, row);
		if (properties & UNNAMED && new_properties(&scan, id, ANY_ROW) & UNNAMED)
			ret->unnamed += samples[id];
		ret->items[row].samples += properties & OF_MODULE ? samples[id] : 0;
		ret->items[row].unnamed += properties & UNNAMED ? samples[id] : 0;
		ret->items[row].lineless += properties & LINELESS ? samples[id] : 0;
	}
	add_placeless(&scan, ret);
	return rows;
}
