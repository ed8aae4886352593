#include "profile/merge.h"

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

void merge_init(struct merge *merge, const struct profile *from, struct profile *to,
		struct idmap *modules)
{
	*merge = (struct merge){
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
	merge->stacks[STACK_EMPTY] = STACK_EMPTY;
}

void merge_deinit(struct merge *merge)
{
	free(merge->module_ids);
	free(merge->frames);
	free(merge->stacks);
	free(merge->threads);
	free(merge->functions);
	free(merge->events);
	free(merge->path);
}

static string_id copy_string(const struct merge *merge, string_id id)
{
	return strtab_add(profile_strings(merge->to), profile_string(merge->from, id));
}

event_id merge_event(struct merge *merge, event_id id)
{
	struct profile_event event = *profile_get_event(merge->from, id);

	if (merge->events[id] != NONE)
		return merge->events[id];
	event.name = copy_string(merge, event.name);
	event.unit = copy_string(merge, event.unit);
	return merge->events[id] = profile_add_event(merge->to, &event);
}

static thread_id copy_thread(const struct merge *merge, thread_id id)
{
	const struct profile_thread *thread = profile_get_thread(merge->from, id);

	return profile_thread(merge->to, thread->pid, thread->tid,
			      profile_string(merge->from, thread->process),
			      profile_string(merge->from, thread->name));
}

/* Code that is made at run time is its process's own, though all of it is called [jit]. */
static uint32_t copy_module(const struct merge *merge, uint32_t id)
{
	struct profile_module module = *profile_get_module(merge->from, id);
	uint32_t *copy;

	module.path = copy_string(merge, module.path);
	module.build_id = copy_string(merge, module.build_id);
	copy = idmap_put(merge->modules, (uint64_t)module.path << 32 | module.build_id,
			 (uint32_t)module.pid << 3 | module.kind);
	if (*copy == IDMAP_NONE) {
		*copy = profile_module_count(merge->to);
		profile_describe_module(merge->to, *copy, &module);
	}
	return *copy;
}

static uint32_t module_of(const struct merge *merge, uint32_t id)
{
	/* One that was never described. */
	if (id >= profile_module_count(merge->from))
		return copy_module(merge, id);
	if (merge->module_ids[id] == NONE)
		merge->module_ids[id] = copy_module(merge, id);
	return merge->module_ids[id];
}

static function_id function_of(const struct merge *merge, function_id id)
{
	struct profile_function function;

	if (merge->functions[id] != NONE)
		return merge->functions[id];
	function = *profile_get_function(merge->from, id);
	function.name = copy_string(merge, function.name);
	function.system_name = copy_string(merge, function.system_name);
	function.file = copy_string(merge, function.file);
	return merge->functions[id] = profile_function(merge->to, &function);
}

static void copy_lines(const struct merge *merge, const struct profile_frame *frame, frame_id to)
{
	CLEANUP(free_ptr)
	struct profile_line *lines = xcalloc(frame->line_count, sizeof(*lines));

	for (unsigned i = 0; i < frame->line_count; i++)
		lines[i] = (struct profile_line){
			.function = function_of(merge, frame->lines[i].function),
			.line = frame->lines[i].line,
		};
	profile_set_lines(merge->to, to, lines, frame->line_count);
}

static frame_id copy_frame(const struct merge *merge, frame_id id)
{
	struct profile_frame frame = profile_get_frame(merge->from, id);
	frame_id copy;

	if (frame.module == PROFILE_NOTES)
		return profile_note(merge->to,
				    profile_string(merge->from, (string_id)frame.offset));
	copy = profile_frame(merge->to, module_of(merge, frame.module), frame.offset,
			     frame.is_return_address);
	if (frame.line_count && !profile_get_frame(merge->to, copy).line_count)
		copy_lines(merge, &frame, copy);
	return copy;
}

static frame_id frame_of(const struct merge *merge, frame_id id)
{
	if (merge->frames[id] == NONE)
		merge->frames[id] = copy_frame(merge, id);
	return merge->frames[id];
}

/* Up from the leaf to the first caller that has been copied, and down again. */
static stack_id stack_of(struct merge *merge, stack_id id)
{
	stack_id copy;

	while (merge->stacks[id] == NONE) {
		GROW(merge->path, merge->path_len, merge->path_room);
		merge->path[merge->path_len++] = id;
		id = profile_get_stack(merge->from, id).parent;
	}
	copy = merge->stacks[id];
	while (merge->path_len) {
		id = merge->path[--merge->path_len];
		copy = profile_push(merge->to, copy,
				    frame_of(merge, profile_get_stack(merge->from, id).frame));
		merge->stacks[id] = copy;
	}
	return copy;
}

uint32_t merge_add(struct merge *merge, const struct profile_cell *cell, uint64_t samples,
		   uint64_t weight)
{
	uint32_t *thread = &merge->threads[cell->thread];

	if (*thread == NONE)
		*thread = copy_thread(merge, cell->thread);
	return profile_add_samples(merge->to, *thread, stack_of(merge, cell->stack),
				   merge_event(merge, cell->event), samples, weight);
}
