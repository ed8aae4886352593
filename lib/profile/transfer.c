#include "profile/transfer.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* An id of `to` for each of `from`, none of which is known yet. */
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
		.stacks = unknown_ids(profile_stack_count(from)),
		.threads = unknown_ids(profile_thread_count(from)),
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
	free(transfer->threads);
	free(transfer->functions);
	free(transfer->events);
	free(transfer->path);
}

static string_id copy_string(const struct transfer *transfer, string_id id)
{
	return strtab_add(profile_strings(transfer->to), profile_string(transfer->from, id));
}

event_id transfer_event(struct transfer *transfer, event_id id)
{
	struct profile_event event = *profile_get_event(transfer->from, id);

	if (transfer->events[id] != NONE)
		return transfer->events[id];
	event.name = copy_string(transfer, event.name);
	event.unit = copy_string(transfer, event.unit);
	return transfer->events[id] = profile_add_event(transfer->to, &event);
}

static thread_id copy_thread(const struct transfer *transfer, thread_id id)
{
	const struct profile_thread *thread = profile_get_thread(transfer->from, id);

	return profile_thread(transfer->to, thread->pid, thread->tid,
			      profile_string(transfer->from, thread->process),
			      profile_string(transfer->from, thread->name));
}

/* Code that is made at run time is its process's own, though all of it is called [jit]. */
static uint32_t copy_module(const struct transfer *transfer, uint32_t id)
{
	struct profile_module module = *profile_get_module(transfer->from, id);
	uint32_t *copy;

	module.path = copy_string(transfer, module.path);
	module.build_id = copy_string(transfer, module.build_id);
	copy = idmap_put(transfer->modules, (uint64_t)module.path << 32 | module.build_id,
			 (uint32_t)module.pid << 3 | module.kind);
	if (*copy == IDMAP_NONE) {
		*copy = profile_module_count(transfer->to);
		profile_describe_module(transfer->to, *copy, &module);
	}
	return *copy;
}

static uint32_t module_of(const struct transfer *transfer, uint32_t id)
{
	/* One that was never described. */
	if (id >= profile_module_count(transfer->from))
		return copy_module(transfer, id);
	if (transfer->module_ids[id] == NONE)
		transfer->module_ids[id] = copy_module(transfer, id);
	return transfer->module_ids[id];
}

static function_id function_of(const struct transfer *transfer, function_id id)
{
	struct profile_function function;

	if (transfer->functions[id] != NONE)
		return transfer->functions[id];
	function = *profile_get_function(transfer->from, id);
	function.name = copy_string(transfer, function.name);
	function.system_name = copy_string(transfer, function.system_name);
	function.file = copy_string(transfer, function.file);
	return transfer->functions[id] = profile_function(transfer->to, &function);
}

static void copy_lines(const struct transfer *transfer, const struct profile_frame *frame,
		       frame_id to)
{
	CLEANUP(free_ptr)
	struct profile_line *lines = xcalloc(frame->line_count, sizeof(*lines));

	for (unsigned i = 0; i < frame->line_count; i++)
		lines[i] = (struct profile_line){
			.function = function_of(transfer, frame->lines[i].function),
			.line = frame->lines[i].line,
		};
	profile_set_lines(transfer->to, to, lines, frame->line_count);
}

static frame_id copy_frame(const struct transfer *transfer, frame_id id)
{
	struct profile_frame frame = profile_get_frame(transfer->from, id);
	frame_id copy;

	if (frame.module == PROFILE_NOTES)
		return profile_note(transfer->to,
				    profile_string(transfer->from, (string_id)frame.offset));
	copy = profile_frame(transfer->to, module_of(transfer, frame.module), frame.offset,
			     frame.is_return_address);
	if (frame.line_count && !profile_get_frame(transfer->to, copy).line_count)
		copy_lines(transfer, &frame, copy);
	return copy;
}

static frame_id frame_of(const struct transfer *transfer, frame_id id)
{
	if (transfer->frames[id] == NONE)
		transfer->frames[id] = copy_frame(transfer, id);
	return transfer->frames[id];
}

/* Up from the leaf to the first caller that has been copied, and down again. */
static stack_id stack_of(struct transfer *transfer, stack_id id)
{
	stack_id copy;

	while (transfer->stacks[id] == NONE) {
		GROW(transfer->path, transfer->path_len, transfer->path_room);
		transfer->path[transfer->path_len++] = id;
		id = profile_get_stack(transfer->from, id).parent;
	}
	copy = transfer->stacks[id];
	while (transfer->path_len) {
		id = transfer->path[--transfer->path_len];
		copy = profile_push(
			transfer->to, copy,
			frame_of(transfer, profile_get_stack(transfer->from, id).frame));
		transfer->stacks[id] = copy;
	}
	return copy;
}

uint32_t transfer_add(struct transfer *transfer, const struct profile_cell *cell, uint64_t samples,
		      uint64_t weight)
{
	uint32_t *thread = &transfer->threads[cell->thread];

	if (*thread == NONE)
		*thread = copy_thread(transfer, cell->thread);
	return profile_add_samples(transfer->to, *thread, stack_of(transfer, cell->stack),
				   transfer_event(transfer, cell->event), samples, weight);
}
