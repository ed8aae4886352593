/*
 * Fuzzes changes of the mappings of a few processes, in any order. The first
 * changes are compared with a simple model. The guarantees of the tables are
 * checked after all changes.
 */
#include "../unit/regions_model.h"

#include <stdint.h>
#include <stdlib.h>

enum { TIMES = 64, SPACING = 4096, CHANGES_MAX = 128 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *at, *end;
};

static unsigned take(struct input *input, unsigned below)
{
	return input->at < input->end ? *input->at++ % below : 0;
}

static void check(bool holds)
{
	if (!holds)
		abort();
}

/* Makes a change that the model also makes. */
static void change_model(struct model *model, struct input *input)
{
	/* If the same module were mapped again late, it would confirm more than
	 * the mapped part. */
	unsigned kind = take(input, 8), process = take(input, MODEL_PROCESSES);
	uint64_t time_ns = 1 + take(input, TIMES);
	unsigned start, other;

	if (kind == 0) {
		model_clear(model, process, time_ns);
	} else if (kind == 1) {
		other = (process + 1 + take(input, MODEL_PROCESSES - 1)) % MODEL_PROCESSES;
		model_fork(model, process, other, time_ns);
	} else {
		start = take(input, MODEL_ADDRESSES);
		model_map(model, process, time_ns, start,
			  start + 1 + take(input, MODEL_ADDRESSES - start), model->count + 1);
	}
}

/* Adds many mappings: adjacent or with gaps, upwards or downwards, or huge. */
static void map_many(struct regions *regions, struct input *input, uint64_t time_ns)
{
	uint64_t at = (uint64_t)take(input, 256) * SPACING * 16;
	uint64_t len = take(input, 2) ? SPACING : SPACING / 2;
	unsigned count = 1 + take(input, 256), is_down = take(input, 2);
	struct region region = {.from_ns = time_ns, .module = 1 + take(input, 4)};

	if (take(input, 8) == 0) {
		count = 1;
		len = (uint64_t)SPACING << take(input, 16);
	}
	for (unsigned i = 0; i < count; i++) {
		region.start = is_down ? at + (uint64_t)(count - i) * SPACING
				       : at + (uint64_t)i * SPACING;
		region.end = region.start + len;
		region.offset = region.start;
		regions_map(regions, &region);
	}
}

static void change_much(struct model *model, struct input *input, uint64_t *now_ns)
{
	unsigned kind = take(input, 10), process = take(input, MODEL_PROCESSES);
	struct regions *regions = &model->processes[process];
	const struct region *found;
	unsigned other = (process + 1 + take(input, MODEL_PROCESSES - 1)) % MODEL_PROCESSES;
	uint64_t time_ns = ++*now_ns - take(input, 4);

	switch (kind) {
	case 0:
		regions_clear(regions, time_ns);
		break;
	case 1:
		regions_forget(regions, time_ns);
		break;
	case 2:
		regions_halve(regions);
		break;
	case 3:
		regions_inherit(regions, &model->processes[other], time_ns, 0, UINT64_MAX);
		break;
	case 4:
		found = regions_find(regions, time_ns, (uint64_t)take(input, 256) * SPACING);
		if (found)
			regions_note_sample(found, found->module);
		break;
	case 5:
	case 6:
		regions_fork(&model->processes[other], regions, time_ns);
		break;
	default:
		map_many(regions, input, time_ns);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {.at = data, .end = data + size};
	uint64_t now_ns = TIMES + 8;
	struct model model;

	model_init(&model);
	for (unsigned i = take(&input, MODEL_CHANGES + 1); i > 0; i--)
		change_model(&model, &input);
	check(model.account.lost_changes || model_agrees(&model, 0, TIMES + 2));
	for (unsigned i = 0; i < CHANGES_MAX && input.at < input.end; i++) {
		change_much(&model, &input, &now_ns);
		check(regions_are_sound(model.processes, MODEL_PROCESSES, &model.account));
	}
	check(regions_are_sound(model.processes, MODEL_PROCESSES, &model.account));
	check(model_deinit(&model));
	return 0;
}
