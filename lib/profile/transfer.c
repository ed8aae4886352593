#include "profile/transfer.h"

#include "base/alloc.h"
#include "profile/source_users.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* Allocates the ids in `to` by id in `from`, all unknown. */
static uint32_t *unknown_ids(uint32_t count)
{
	uint32_t *ids = xcalloc(count, sizeof(*ids));

	memset(ids, 0xff, count * sizeof(*ids));
	return ids;
}

void transfer_init(struct transfer *transfer, const struct profile *from, struct profile *to,
		   struct idmap *modules)
{
	*transfer = (struct transfer){
		.from = from,
		.to = to,
		.modules = modules,
		.module_ids = unknown_ids(profile_module_count(from)),
		.frames = unknown_ids(profile_frame_count(from)),
		.stacks = unknown_ids(profile_stacks(from).count),
		.label_sets = unknown_ids(profile_label_set_count(from)),
		.functions = unknown_ids(profile_function_count(from)),
		.events = unknown_ids(profile_event_count(from)),
	};
	transfer->stacks[STACK_EMPTY] = STACK_EMPTY;
}

void transfer_deinit(struct transfer *transfer)
{
	free(transfer->module_ids);
	free(transfer->frames);
	free(transfer->stacks);
	free(transfer->label_sets);
	free(transfer->functions);
	free(transfer->events);
	free(transfer->path.items);
}

static string_id transfer_copy_string(const struct transfer *transfer, string_id id)
{
	return strtab_add(profile_strings(transfer->to), profile_string(transfer->from, id));
}

event_id transfer_event(struct transfer *transfer, event_id id)
{
	struct profile_event event = *profile_get_event(transfer->from, id);

	if (transfer->events[id] != NONE)
		return transfer->events[id];
	event.name = transfer_copy_string(transfer, event.name);
	event.unit = transfer_copy_string(transfer, event.unit);
	return transfer->events[id] = profile_add_event(transfer->to, &event);
}

static label_set_id copy_label_set(const struct transfer *transfer, label_set_id id)
{
	const struct profile_label_set *set = profile_get_label_set(transfer->from, id);
	struct profile_thread thread = *profile_get_thread(transfer->from, set->thread);
	CLEANUP(free_ptr) struct profile_label *labels = xcalloc(set->count, sizeof(*labels));

	thread.process = transfer_copy_string(transfer, thread.process);
	thread.name = transfer_copy_string(transfer, thread.name);
	for (uint32_t i = 0; i < set->count; i++)
		labels[i] = (struct profile_label){
			.key = transfer_copy_string(transfer, set->labels[i].key),
			.text = transfer_copy_string(transfer, set->labels[i].text),
			.unit = transfer_copy_string(transfer, set->labels[i].unit),
			.number = set->labels[i].number,
		};
	return profile_label_set(transfer->to, &thread, labels, set->count);
}

void transfer_share_module(struct profile *to, uint32_t module, uid_t user)
{
	uid_t other = profile_get_module(to, module)->source_user;

	if (user != other && user != SOURCE_USER_PROF)
		profile_set_source_user(to, module,
					other == SOURCE_USER_PROF ? user : SOURCE_USER_NOBODY);
}

/* JIT code belongs to its process, even though the path is always [jit]. */
uint32_t transfer_merge_module(struct profile *to, struct idmap *modules,
			       const struct profile_module *module)
{
	uint32_t *id = idmap_put(modules, (uint64_t)module->path << 32 | module->build_id,
				 (uint32_t)module->pid << 3 | module->kind);

	if (*id == IDMAP_NONE) {
		*id = profile_module_count(to);
		profile_describe_module(to, *id, module);
	}
	transfer_share_module(to, *id, module->source_user);
	return *id;
}

static uint32_t copy_module(const struct transfer *transfer, uint32_t id)
{
	struct profile_module module = *profile_get_module(transfer->from, id);

	module.path = transfer_copy_string(transfer, module.path);
	module.build_id = transfer_copy_string(transfer, module.build_id);
	if (transfer->modules)
		return transfer_merge_module(transfer->to, transfer->modules, &module);
	profile_describe_module(transfer->to, id, &module);
	return id;
}

uint32_t transfer_module(struct transfer *transfer, uint32_t id)
{
	/* A module without a description. */
	if (id >= profile_module_count(transfer->from))
		return copy_module(transfer, id);
	if (transfer->module_ids[id] == NONE)
		transfer->module_ids[id] = copy_module(transfer, id);
	return transfer->module_ids[id];
}

function_id transfer_function(struct transfer *transfer, function_id id)
{
	struct profile_function function;

	if (transfer->functions[id] != NONE)
		return transfer->functions[id];
	function = *profile_get_function(transfer->from, id);
	function.name = transfer_copy_string(transfer, function.name);
	function.system_name = transfer_copy_string(transfer, function.system_name);
	function.file = transfer_copy_string(transfer, function.file);
	return transfer->functions[id] = profile_function(transfer->to, &function);
}

/* The caller frees the result. */
static struct profile_line *transfer_copy_lines(struct transfer *transfer,
						const struct profile_frame *frame)
{
	struct profile_line *lines = xcalloc(frame->line_count, sizeof(*lines));

	for (unsigned i = 0; i < frame->line_count; i++)
		lines[i] = (struct profile_line){
			.function = transfer_function(transfer, frame->lines[i].function),
			.line = frame->lines[i].line,
			.folded = frame->lines[i].folded,
		};
	return lines;
}

/* Returns the text of a synthetic frame. */
static const char *transfer_text_of(const struct profile *profile,
				    const struct profile_frame *frame)
{
	const struct profile_function *function = profile_get_function(profile,
								       frame->lines[0].function);

	return profile_string(profile, function->name);
}

static frame_id copy_frame(struct transfer *transfer, frame_id id)
{
	struct profile_frame frame = profile_get_frame(transfer->from, id);
	CLEANUP(free_ptr) struct profile_line *lines = NULL;
	uint32_t module;
	frame_id copy;

	if (frame.module == PROFILE_SYNTHETIC)
		return profile_synthetic_frame(transfer->to,
					       transfer_text_of(transfer->from, &frame));
	module = transfer_module(transfer, frame.module);
	lines = transfer_copy_lines(transfer, &frame);
	if (frame.is_named)
		return profile_named_frame(transfer->to, module, frame.offset, lines,
					   frame.line_count);
	copy = profile_frame(transfer->to, module, frame.offset, frame.is_return_address);
	if (profile_get_frame(transfer->to, copy).line_count)
		return copy;
	if (!frame.line_count)
		profile_set_into_function(transfer->to, copy,
					  profile_frame_into_function(transfer->from, id));
	profile_set_lines(transfer->to, copy, lines, frame.line_count);
	return copy;
}

frame_id transfer_frame(struct transfer *transfer, frame_id id)
{
	if (transfer->frames[id] == NONE)
		transfer->frames[id] = copy_frame(transfer, id);
	return transfer->frames[id];
}

static stack_id transfer_stack_of(struct transfer *transfer, stack_id id)
{
	const struct profile_stacks stacks = profile_stacks(transfer->from);
	stack_id copy;

	while (transfer->stacks[id] == NONE)
		id = stack_path_up(&transfer->path, stacks, id);
	copy = transfer->stacks[id];
	while (stack_path_down(&transfer->path, &id)) {
		copy = profile_push(transfer->to, copy,
				    transfer_frame(transfer, stacks.items[id].frame));
		transfer->stacks[id] = copy;
	}
	return copy;
}

label_set_id transfer_label_set(struct transfer *transfer, label_set_id id)
{
	label_set_id *labels = &transfer->label_sets[id];

	if (*labels == NONE)
		*labels = copy_label_set(transfer, id);
	return *labels;
}

uint32_t transfer_add(struct transfer *transfer, const struct profile_sample *sample,
		      uint64_t samples, uint64_t weight)
{
	return profile_add_samples(transfer->to, transfer_label_set(transfer, sample->labels),
				   transfer_stack_of(transfer, sample->stack),
				   transfer_event(transfer, sample->event), samples, weight);
}
