#include "profile/profile.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/idmap.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A frame as it is kept; the lines, once known, stand in the arena. */
struct frame_entry {
	uint64_t offset;
	const struct profile_line *lines;
	uint32_t module;
	uint32_t line_count : 31;
	uint32_t is_return_address : 1;
};

#define NO_CELL IDMAP_NONE

struct stack_entry {
	struct profile_stack stack;
	uint32_t cell; /* the first one with samples of this stack; NO_CELL: none so far */
};

/* A growing array of entries, and the map from what makes an entry unique to its id. */
#define TABLE(type)                                                                                \
	struct {                                                                                   \
		type *items;                                                                       \
		uint32_t count, room;                                                              \
		struct idmap ids;                                                                  \
	}

#define TABLE_DEINIT(table)                                                                        \
	do {                                                                                       \
		free((table).items);                                                               \
		idmap_deinit(&(table).ids);                                                        \
	} while (0)

/* The id of (key, subkey): the one it has, or a new one for `item`. */
#define TABLE_PUT(table, key, subkey, ...)                                                         \
	__extension__({                                                                            \
		uint32_t *id_ = idmap_put(&(table).ids, (key), (subkey));                          \
                                                                                                   \
		if (*id_ == IDMAP_NONE) {                                                          \
			GROW((table).items, (table).count, (table).room);                          \
			(table).items[(table).count] = __VA_ARGS__;                                \
			*id_ = (table).count++;                                                    \
		}                                                                                  \
		*id_;                                                                              \
	})

struct profile {
	struct strtab *strings;
	struct arena arena; /* lines, segments, the strings of info */
	struct profile_info info;

	TABLE(struct profile_event) events;	  /* by (name, unit) */
	TABLE(struct frame_entry) frames;	  /* by (offset, module and is_return_address) */
	TABLE(struct stack_entry) stacks;	  /* by (parent, frame): see profile_push() */
	TABLE(struct profile_thread) threads;	  /* by (pid and tid, pair of names) */
	TABLE(struct profile_function) functions; /* by (pair of names, pair of file and line) */
	TABLE(struct profile_cell) cells;	  /* by (stack and thread, event): see cell_of() */
	TABLE(uint64_t) pairs; /* two u32 as one id, for keys of more than three */

	bool keeps_moments;
	struct profile_moment *moments;
	uint64_t moment_count, moment_room;
	struct profile_marker *markers;
	uint64_t marker_count, marker_room;

	struct profile_module *modules; /* by number; found elsewhere */
	uint32_t module_count, module_room;
	struct profile_module notes;
};

static uint64_t both(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

static uint32_t pair(struct profile *profile, uint32_t high, uint32_t low)
{
	uint64_t key = both(high, low);

	return TABLE_PUT(profile->pairs, key, 0, key);
}

struct profile *profile_new(void)
{
	struct profile *profile = xcalloc(1, sizeof(*profile));

	profile->strings = strtab_new();
	profile->notes = (struct profile_module){.kind = PROFILE_MODULE_NOTE, .named = true};
	profile->info = (struct profile_info){
		.command = "", .host = "", .kernel = "", .quality = "", .remarks = ""};
	GROW(profile->stacks.items, profile->stacks.count, profile->stacks.room);
	profile->stacks.items[profile->stacks.count++] = (struct stack_entry){.cell = NO_CELL};
	return profile;
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	TABLE_DEINIT(profile->events);
	TABLE_DEINIT(profile->frames);
	TABLE_DEINIT(profile->stacks);
	TABLE_DEINIT(profile->threads);
	TABLE_DEINIT(profile->functions);
	TABLE_DEINIT(profile->cells);
	TABLE_DEINIT(profile->pairs);
	free(profile->moments);
	free(profile->markers);
	free(profile->modules);
	arena_deinit(&profile->arena);
	strtab_free(profile->strings);
	free(profile);
}

struct strtab *profile_strings(struct profile *profile)
{
	return profile->strings;
}

const char *profile_string(const struct profile *profile, string_id id)
{
	return strtab_get(profile->strings, id);
}

event_id profile_add_event(struct profile *profile, const struct profile_event *event)
{
	return TABLE_PUT(profile->events, event->name, event->unit, *event);
}

/* Modules up to and with this number exist from now on; those not described yet are unknown. */
static struct profile_module *module_at(struct profile *profile, uint32_t module)
{
	if (module == PROFILE_NOTES)
		return &profile->notes;
	while (profile->module_count <= module) {
		GROW(profile->modules, profile->module_count, profile->module_room);
		profile->modules[profile->module_count++] =
			(struct profile_module){.kind = PROFILE_MODULE_UNKNOWN};
	}
	return &profile->modules[module];
}

void profile_describe_module(struct profile *profile, uint32_t module,
			     const struct profile_module *description)
{
	struct profile_module *entry = module_at(profile, module);
	size_t size_bytes = description->segment_count * sizeof(*description->segments);
	struct profile_segment *segments = NULL;
	bool named = entry->named || description->named;

	if (size_bytes) {
		segments = arena_alloc(&profile->arena, size_bytes);
		memcpy(segments, description->segments, size_bytes);
	}
	*entry = *description;
	entry->segments = segments;
	entry->named = named;
}

frame_id profile_frame(struct profile *profile, uint32_t module, uint64_t offset,
		       bool is_return_address)
{
	/* Modules are dense, so no two of them differ in the top bit alone. */
	return TABLE_PUT(profile->frames, offset, module << 1 | is_return_address,
			 (struct frame_entry){.offset = offset,
					      .module = module,
					      .is_return_address = is_return_address});
}

frame_id profile_named_frame(struct profile *profile, uint32_t module, uint64_t offset,
			     const struct profile_line *lines, unsigned count)
{
	GROW(profile->frames.items, profile->frames.count, profile->frames.room);
	profile->frames.items[profile->frames.count] = (struct frame_entry){
		.offset = offset,
		.module = module,
	};
	profile_set_lines(profile, profile->frames.count, lines, count);
	return profile->frames.count++;
}

frame_id profile_note(struct profile *profile, const char *text)
{
	string_id name = strtab_add(profile->strings, text);
	frame_id frame = profile_frame(profile, PROFILE_NOTES, name, false);

	if (!profile->frames.items[frame].line_count) {
		struct profile_line line = {
			.function = profile_function(profile,
						     &(struct profile_function){
							     .name = name,
							     .system_name = name,
						     }),
		};

		profile_set_lines(profile, frame, &line, 1);
	}
	return frame;
}

static stack_id add_stack(struct profile *profile, stack_id parent, frame_id frame)
{
	GROW(profile->stacks.items, profile->stacks.count, profile->stacks.room);
	profile->stacks.items[profile->stacks.count] = (struct stack_entry){
		.stack = {.parent = parent,
			  .frame = frame,
			  .depth = profile->stacks.items[parent].stack.depth + 1},
		.cell = NO_CELL,
	};
	return profile->stacks.count++;
}

/*
 * A stack that is made right after its parent is its neighbour and needs no entry in the map. Most
 * are: where a stack leaves those that are known, all of the rest of it is new.
 */
static bool is_neighbour(const struct profile *profile, stack_id parent, frame_id frame)
{
	const struct profile_stack *next = &profile->stacks.items[parent + 1].stack;

	return parent + 1 < profile->stacks.count && next->parent == parent && next->frame == frame;
}

stack_id profile_push(struct profile *profile, stack_id parent, frame_id frame)
{
	uint32_t *id;

	if (is_neighbour(profile, parent, frame))
		return parent + 1;
	if (parent + 1 == profile->stacks.count)
		return add_stack(profile, parent, frame);
	id = idmap_put(&profile->stacks.ids, both(parent, frame), 0);
	if (*id == IDMAP_NONE)
		*id = add_stack(profile, parent, frame);
	return *id;
}

static void go_on(struct profile_path *path, stack_id stack)
{
	path->known = stack;
	path->frames++;
	path->count--;
}

/* False at the end of what is known. */
static bool follow_neighbours(const struct profile *profile, struct profile_path *path)
{
	while (path->count && is_neighbour(profile, path->known, *path->frames))
		go_on(path, path->known + 1);
	if (path->count)
		idmap_prefetch(&profile->stacks.ids, both(path->known, *path->frames), 0);
	return path->count;
}

static void follow_map(const struct profile *profile, struct profile_path *path)
{
	stack_id stack = idmap_get(&profile->stacks.ids, both(path->known, *path->frames), 0);

	if (stack == IDMAP_NONE) {
		path->count = 0;
		return;
	}
	go_on(path, stack);
	__builtin_prefetch(&profile->stacks.items[stack]);
}

void profile_prefetch(const struct profile *profile, struct profile_path *paths, size_t count)
{
	for (size_t i = 0; i < count; i++)
		paths[i].known = STACK_EMPTY;
	while (count) {
		size_t left = 0;

		for (size_t i = 0; i < count; i++)
			if (follow_neighbours(profile, &paths[i]))
				paths[left++] = paths[i];
		for (size_t i = 0; i < left; i++)
			follow_map(profile, &paths[i]);
		count = left;
	}
}

thread_id profile_thread(struct profile *profile, pid_t pid, pid_t tid, const char *process,
			 const char *name)
{
	struct profile_thread thread = {
		.pid = pid,
		.tid = tid,
		.process = strtab_add(profile->strings, process),
		.name = strtab_add(profile->strings, name),
	};

	return TABLE_PUT(profile->threads, both((uint32_t)pid, (uint32_t)tid),
			 pair(profile, thread.process, thread.name), thread);
}

uint32_t profile_add(struct profile *profile, thread_id thread, stack_id stack, event_id event,
		     uint64_t weight)
{
	return profile_add_samples(profile, thread, stack, event, 1, weight);
}

static uint32_t add_cell(struct profile *profile, thread_id thread, stack_id stack, event_id event)
{
	GROW(profile->cells.items, profile->cells.count, profile->cells.room);
	profile->cells.items[profile->cells.count] =
		(struct profile_cell){.stack = stack, .thread = thread, .event = event};
	return profile->cells.count++;
}

/* Most stacks have one cell, which they know; only further ones are in the map. */
static uint32_t cell_of(struct profile *profile, thread_id thread, stack_id stack, event_id event)
{
	uint32_t *id = &profile->stacks.items[stack].cell;

	if (*id != NO_CELL && (profile->cells.items[*id].thread != thread ||
			       profile->cells.items[*id].event != event))
		id = idmap_put(&profile->cells.ids, both(stack, thread), event);
	if (*id == NO_CELL)
		*id = add_cell(profile, thread, stack, event);
	return *id;
}

uint32_t profile_add_samples(struct profile *profile, thread_id thread, stack_id stack,
			     event_id event, uint64_t samples, uint64_t weight)
{
	uint32_t id = cell_of(profile, thread, stack, event);

	profile->cells.items[id].samples += samples;
	profile->cells.items[id].weight += weight;
	return id;
}

uint64_t profile_fade(struct profile *profile, double factor, uint64_t least_samples)
{
	uint64_t left = 0;

	for (uint32_t i = 0; i < profile->cells.count; i++) {
		struct profile_cell *cell = &profile->cells.items[i];

		cell->samples = (uint64_t)((double)cell->samples * factor);
		cell->weight = (uint64_t)((double)cell->weight * factor);
		if (cell->samples < least_samples)
			cell->samples = cell->weight = 0;
		left += cell->samples > 0;
	}
	return left;
}

void profile_keep_moments(struct profile *profile)
{
	profile->keeps_moments = true;
}

void profile_add_moment(struct profile *profile, const struct profile_moment *moment)
{
	if (!profile->keeps_moments)
		return;
	GROW(profile->moments, profile->moment_count, profile->moment_room);
	profile->moments[profile->moment_count++] = *moment;
}

void profile_add_marker(struct profile *profile, const struct profile_marker *marker)
{
	if (!profile->keeps_moments)
		return;
	GROW(profile->markers, profile->marker_count, profile->marker_room);
	profile->markers[profile->marker_count++] = *marker;
}

static const char *copy_text(struct profile *profile, const char *text)
{
	return text ? arena_strndup(&profile->arena, text, strlen(text)) : "";
}

void profile_set_info(struct profile *profile, const struct profile_info *info)
{
	profile->info = *info;
	profile->info.command = copy_text(profile, info->command);
	profile->info.host = copy_text(profile, info->host);
	profile->info.kernel = copy_text(profile, info->kernel);
	profile->info.quality = copy_text(profile, info->quality);
	profile->info.remarks = copy_text(profile, info->remarks);
}

function_id profile_function(struct profile *profile, const struct profile_function *function)
{
	uint32_t names = pair(profile, function->name, function->system_name);
	uint32_t place = pair(profile, function->file, function->start_line);

	return TABLE_PUT(profile->functions, both(names, place), 0, *function);
}

void profile_set_lines(struct profile *profile, frame_id frame, const struct profile_line *lines,
		       unsigned count)
{
	struct frame_entry *entry = &profile->frames.items[frame];
	struct profile_line *copy;

	assert(!entry->line_count);
	if (!count)
		return;
	copy = arena_alloc(&profile->arena, count * sizeof(*copy));
	memcpy(copy, lines, count * sizeof(*copy));
	entry->lines = copy;
	entry->line_count = count & INT32_MAX;
	module_at(profile, entry->module)->named = true;
}

uint32_t profile_event_count(const struct profile *profile)
{
	return profile->events.count;
}

const struct profile_event *profile_get_event(const struct profile *profile, event_id id)
{
	return &profile->events.items[id];
}

uint32_t profile_module_count(const struct profile *profile)
{
	return profile->module_count;
}

const struct profile_module *profile_get_module(const struct profile *profile, uint32_t id)
{
	static const struct profile_module unknown = {.kind = PROFILE_MODULE_UNKNOWN};

	if (id == PROFILE_NOTES)
		return &profile->notes;
	return id < profile->module_count ? &profile->modules[id] : &unknown;
}

uint32_t profile_frame_count(const struct profile *profile)
{
	return profile->frames.count;
}

struct profile_frame profile_get_frame(const struct profile *profile, frame_id id)
{
	const struct frame_entry *entry = &profile->frames.items[id];

	return (struct profile_frame){
		.module = entry->module,
		.offset = entry->offset,
		.is_return_address = entry->is_return_address,
		.lines = entry->lines,
		.line_count = entry->line_count,
	};
}

uint32_t profile_stack_count(const struct profile *profile)
{
	return profile->stacks.count;
}

struct profile_stack profile_get_stack(const struct profile *profile, stack_id id)
{
	return profile->stacks.items[id].stack;
}

void profile_prefetch_stack(const struct profile *profile, stack_id id)
{
	__builtin_prefetch(&profile->stacks.items[id]);
}

uint32_t profile_thread_count(const struct profile *profile)
{
	return profile->threads.count;
}

const struct profile_thread *profile_get_thread(const struct profile *profile, thread_id id)
{
	return &profile->threads.items[id];
}

uint32_t profile_function_count(const struct profile *profile)
{
	return profile->functions.count;
}

const struct profile_function *profile_get_function(const struct profile *profile, function_id id)
{
	return &profile->functions.items[id];
}

uint64_t profile_cell_count(const struct profile *profile)
{
	return profile->cells.count;
}

const struct profile_cell *profile_get_cell(const struct profile *profile, uint64_t index)
{
	return &profile->cells.items[index];
}

uint64_t profile_moment_count(const struct profile *profile)
{
	return profile->moment_count;
}

const struct profile_moment *profile_get_moment(const struct profile *profile, uint64_t index)
{
	return &profile->moments[index];
}

uint64_t profile_marker_count(const struct profile *profile)
{
	return profile->marker_count;
}

const struct profile_marker *profile_get_marker(const struct profile *profile, uint64_t index)
{
	return &profile->markers[index];
}

const struct profile_info *profile_get_info(const struct profile *profile)
{
	return &profile->info;
}

uint64_t profile_frame_vaddr(const struct profile *profile, frame_id id)
{
	const struct frame_entry *entry = &profile->frames.items[id];
	const struct profile_module *module = profile_get_module(profile, entry->module);

	/* A return address may be the first byte behind the segment; the call is inside. */
	uint64_t offset = entry->offset - entry->is_return_address;

	for (unsigned i = 0; i < module->segment_count; i++) {
		const struct profile_segment *segment = &module->segments[i];

		if (offset - segment->offset < segment->size_bytes)
			return segment->vaddr + (entry->offset - segment->offset);
	}
	return entry->offset;
}

uint64_t profile_frame_address(const struct profile *profile, frame_id id)
{
	return profile_frame_vaddr(profile, id) - profile->frames.items[id].is_return_address;
}

char *profile_frame_address_name(const struct profile *profile, frame_id id)
{
	uint32_t number = profile->frames.items[id].module;
	const struct profile_module *module = profile_get_module(profile, number);
	const char *path = profile_string(profile, module->path);
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	size_t len = strlen(base);

	if (len > 2 && base[0] == '[' && base[len - 1] == ']') {
		base++;
		len -= 2;
	}
	if (!len) {
		base = "unknown";
		len = strlen(base);
	}
	return xasprintf("[%.*s+0x%" PRIx64 "]", (int)len, base,
			 profile_frame_address(profile, id));
}
