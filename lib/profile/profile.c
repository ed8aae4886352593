#include "profile/profile.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/hash.h"
#include "profile/code_origin.h"
#include "profile/embedded_names.h"
#include "profile/label_sets.h"
#include "profile/table.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A stored frame; its lines are in the arena. */
struct frame_entry {
	uint64_t offset;
	union {
		const struct profile_line *lines; /* line_count of them */
		uint64_t into_function;		  /* if line_count is 0 */
	};
	uint32_t module;
	uint32_t line_count : 30;
	uint32_t is_return_address : 1;
	uint32_t is_named : 1;
};

struct profile {
	struct strtab *strings;
	struct arena arena; /* lines, segments, the strings of info */
	struct profile_info info;
	uid_t writer;

	uint32_t generation;
	TABLE(struct profile_event) events; /* by (name, unit) */
	TABLE(struct frame_entry) frames;   /* by (offset, module and is_return_address) */
	struct idmap named_frames;	    /* by (hash of the content, number) */
	struct embedded_names embedded_names;
	struct stack_trie stacks;
	struct label_sets label_sets;
	TABLE(struct profile_function) functions; /* by (pair of names, pair of file and line) */
	struct sample_table samples;
	TABLE(uint64_t) pairs; /* two 32-bit numbers as one, for longer keys */

	bool keeps_timestamps;
	struct timeline timeline;
	struct sample_order sample_order;
	TABLE(struct profile_polls) polls; /* by task */

	struct profile_module *modules; /* by the caller's number */
	uint32_t module_count, module_room;
	struct profile_module synthetic; /* PROFILE_SYNTHETIC */
};

static uint32_t pair(struct profile *profile, uint32_t high, uint32_t low)
{
	uint64_t key = table_key(high, low);

	return TABLE_PUT(profile->pairs, key, 0, key);
}

struct profile *profile_new(void)
{
	struct profile *profile = xcalloc(1, sizeof(*profile));

	profile->strings = strtab_new();
	profile->synthetic = (struct profile_module){.kind = PROFILE_MODULE_SYNTHETIC,
						     .named = true};
	profile->info = (struct profile_info){.title = "",
					      .command = "",
					      .host = "",
					      .kernel = "",
					      .headline = "",
					      .remarks = "",
					      .problems = ""};
	stack_trie_init(&profile->stacks);
	return profile;
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	TABLE_DEINIT(profile->events);
	TABLE_DEINIT(profile->frames);
	idmap_deinit(&profile->named_frames);
	stack_trie_deinit(&profile->stacks);
	label_sets_deinit(&profile->label_sets);
	TABLE_DEINIT(profile->functions);
	sample_table_deinit(&profile->samples);
	TABLE_DEINIT(profile->pairs);
	embedded_names_deinit(&profile->embedded_names);
	timeline_deinit(&profile->timeline);
	sample_order_deinit(&profile->sample_order);
	TABLE_DEINIT(profile->polls);
	free(profile->modules);
	arena_deinit(&profile->arena);
	strtab_free(profile->strings);
	free(profile);
}

size_t profile_memory_bytes(const struct profile *profile)
{
	return strtab_memory_bytes(profile->strings) + profile->arena.size_bytes +
	       TABLE_MEMORY_BYTES(profile->events) + TABLE_MEMORY_BYTES(profile->frames) +
	       idmap_memory_bytes(&profile->named_frames) + TABLE_MEMORY_BYTES(profile->stacks) +
	       label_sets_memory_bytes(&profile->label_sets) +
	       TABLE_MEMORY_BYTES(profile->functions) + TABLE_MEMORY_BYTES(profile->samples) +
	       TABLE_MEMORY_BYTES(profile->pairs) +
	       profile->module_count * sizeof(*profile->modules);
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

/*
 * Adds modules up to this number. Modules that are not described yet are
 * unknown.
 */
static struct profile_module *module_at(struct profile *profile, uint32_t module)
{
	if (module == PROFILE_SYNTHETIC)
		return &profile->synthetic;
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

void profile_set_writer(struct profile *profile, uid_t writer)
{
	profile->writer = writer;
}

uid_t profile_writer(const struct profile *profile)
{
	return profile->writer;
}

void profile_set_source_user(struct profile *profile, uint32_t module, uid_t user)
{
	profile->modules[module].source_user = user;
}

/* Module numbers are dense, so no two of them differ only in the top bit. */
static uint32_t frame_subkey(uint32_t module, bool is_return_address)
{
	return module << 1 | is_return_address;
}

frame_id profile_frame(struct profile *profile, uint32_t module, uint64_t offset,
		       bool is_return_address)
{
	return TABLE_PUT(profile->frames, offset, frame_subkey(module, is_return_address),
			 (struct frame_entry){.offset = offset,
					      .module = module,
					      .is_return_address = is_return_address});
}

void profile_move_frame(struct profile *profile, frame_id frame, uint32_t module, uint64_t offset)
{
	profile->frames.items[frame].module = module;
	profile->frames.items[frame].offset = offset;
}

/* Hashes the content of a named frame. Lines have no padding. */
static uint64_t hash_named(uint32_t module, uint64_t offset, const struct profile_line *lines,
			   unsigned count)
{
	uint64_t hash = hash_mix(offset, table_key(module, count));

	for (unsigned i = 0; i < count; i++)
		hash = hash_mix(hash,
				table_key(lines[i].function, lines[i].line) + lines[i].folded);
	return hash;
}

static bool has_content(const struct frame_entry *entry, uint32_t module, uint64_t offset,
			const struct profile_line *lines, unsigned count)
{
	return entry->module == module && entry->offset == offset && entry->line_count == count &&
	       !memcmp(entry->lines, lines, count * sizeof(*lines));
}

static frame_id add_named_frame(struct profile *profile, uint32_t module, uint64_t offset,
				const struct profile_line *lines, unsigned count)
{
	GROW(profile->frames.items, profile->frames.count, profile->frames.room);
	profile->frames.items[profile->frames.count] = (struct frame_entry){
		.offset = offset,
		.module = module,
		.is_named = true,
	};
	profile_set_lines(profile, profile->frames.count, lines, count);
	return profile->frames.count++;
}

frame_id profile_named_frame(struct profile *profile, uint32_t module, uint64_t offset,
			     const struct profile_line *lines, unsigned count)
{
	uint64_t hash = hash_named(module, offset, lines, count);

	/* Frames with the same hash differ in their number. */
	for (uint32_t number = 0;; number++) {
		uint32_t *id = idmap_put(&profile->named_frames, hash, number);

		if (*id == IDMAP_NONE)
			*id = add_named_frame(profile, module, offset, lines, count);
		else if (!has_content(&profile->frames.items[*id], module, offset, lines, count))
			continue;
		return *id;
	}
}

/* Sets or replaces the text of a synthetic frame. */
static void profile_set_text(struct profile *profile, frame_id frame, string_id text)
{
	struct profile_function function = {.name = text, .system_name = text};
	struct profile_line line = {.function = profile_function(profile, &function)};

	profile->frames.items[frame].line_count = 0;
	profile_set_lines(profile, frame, &line, 1);
}

frame_id profile_synthetic_frame(struct profile *profile, const char *text)
{
	string_id name = strtab_add(profile->strings, text);
	frame_id frame = profile_frame(profile, PROFILE_SYNTHETIC, name, false);

	if (!profile->frames.items[frame].line_count)
		profile_set_text(profile, frame, name);
	return frame;
}

static const char *profile_function_name(const struct profile *profile,
					 const struct profile_line *line)
{
	return strtab_get(profile->strings, profile->functions.items[line->function].name);
}

/*
 * Returns the innermost function of a frame that belongs to the program, else
 * the function at the address.
 */
static const char *telling_name(const struct profile *profile, frame_id id)
{
	const struct frame_entry *frame = &profile->frames.items[id];

	for (unsigned i = 0; i < frame->line_count; i++) {
		const char *name = profile_function_name(profile, &frame->lines[i]);

		if (code_origin_of("", name) == ORIGIN_PROGRAM)
			return name;
	}
	return profile_function_name(profile, &frame->lines[frame->line_count - 1]);
}

static void update_embedded_name(struct profile *profile, const struct embedded_name *embedded_name)
{
	bool is_known = profile->frames.items[embedded_name->quoted].line_count;
	CLEANUP(free_ptr)
	char *text = embedded_name_text(embedded_name, profile->strings,
					is_known ? telling_name(profile, embedded_name->quoted)
						 : NULL);

	profile_set_text(profile, embedded_name->frame, strtab_add(profile->strings, text));
}

frame_id profile_quoting_frame(struct profile *profile, const char *before, const char *link,
			       frame_id quoted, const char *after)
{
	const struct embedded_name wanted = {
		.quoted = quoted,
		.before = strtab_add(profile->strings, before),
		.link = strtab_add(profile->strings, link),
		.after = strtab_add(profile->strings, after),
	};
	const struct embedded_name *found = embedded_names_find(&profile->embedded_names, &wanted);
	CLEANUP(free_ptr) char *text = embedded_name_text(&wanted, profile->strings, NULL);
	CLEANUP(free_ptr) char *key = NULL;
	struct embedded_name *embedded_name;

	if (found)
		return found->frame;
	embedded_name = embedded_names_add(&profile->embedded_names, &wanted);
	if (!embedded_name)
		return profile_synthetic_frame(profile, text);
	/* The text changes, so the key does, too. */
	key = embedded_name_key(embedded_name, profile->strings);
	embedded_name->frame = profile_frame(profile, PROFILE_SYNTHETIC,
					     strtab_add(profile->strings, key), false);
	update_embedded_name(profile, embedded_name);
	return embedded_name->frame;
}

stack_id profile_push(struct profile *profile, stack_id parent, frame_id frame)
{
	return stack_trie_push(&profile->stacks, parent, frame);
}

bool profile_find_stack(const struct profile *profile, stack_id parent, frame_id frame,
			stack_id *ret)
{
	return stack_trie_find(&profile->stacks, parent, frame, ret);
}

void profile_push_paths(struct profile *profile, struct profile_path *paths, size_t count)
{
	stack_trie_push_paths(&profile->stacks, paths, count);
}

label_set_id profile_label_set(struct profile *profile, const struct profile_thread *thread,
			       const struct profile_label *labels, uint32_t count)
{
	return label_sets_put(&profile->label_sets, profile->strings,
			      label_sets_thread(&profile->label_sets, thread), labels, count);
}

label_set_id profile_add_label(struct profile *profile, label_set_id id,
			       const struct profile_label *label)
{
	const struct profile_label_set *set = profile_get_label_set(profile, id);
	const struct profile_thread thread = *profile_get_thread(profile, set->thread);
	CLEANUP(free_ptr)
	struct profile_label *labels = xcalloc((size_t)set->count + 1, sizeof(*labels));

	if (set->count)
		memcpy(labels, set->labels, set->count * sizeof(*labels));
	labels[set->count] = *label;
	return profile_label_set(profile, &thread, labels, set->count + 1);
}

label_set_id profile_thread_labels(struct profile *profile, pid_t pid, pid_t tid,
				   const char *process, const char *name)
{
	return profile_label_set(profile,
				 &(struct profile_thread){
					 .pid = pid,
					 .tid = tid,
					 .process = strtab_add(profile->strings, process),
					 .name = strtab_add(profile->strings, name),
				 },
				 NULL, 0);
}

uint32_t profile_add(struct profile *profile, label_set_id labels, stack_id stack, event_id event,
		     uint64_t weight)
{
	return profile_add_samples(profile, labels, stack, event, 1, weight);
}

/* Gives samples without frames a row in each view. */
static stack_id unnamed_stack(struct profile *profile)
{
	return profile_push(profile, STACK_EMPTY, profile_synthetic_frame(profile, "[unnamed]"));
}

uint32_t profile_add_samples(struct profile *profile, label_set_id labels, stack_id stack,
			     event_id event, uint64_t samples, uint64_t weight)
{
	assert(event < profile->events.count);
	return sample_table_add(
		&profile->samples, &profile->stacks,
		&(struct profile_sample){
			.stack = stack == STACK_EMPTY ? unnamed_stack(profile) : stack,
			.labels = labels,
			.event = event,
			.samples = samples,
			.weight = weight,
		});
}

/* Returns the labels of an old label set, with another thread. */
static label_set_id move_labels(struct profile *profile, const struct label_sets *from,
				label_set_id id, void (*map)(void *, struct profile_thread *),
				void *user)
{
	const struct profile_label_set *set = &from->sets.items[id];
	struct profile_thread thread = from->threads.items[set->thread];

	map(user, &thread);
	return profile_label_set(profile, &thread, set->labels, set->count);
}

static label_set_id moved_labels(void *user, const struct profile_sample *sample)
{
	const label_set_id *moved = user;

	return moved[sample->labels];
}

void profile_map_threads(struct profile *profile,
			 void (*map)(void *user, struct profile_thread *thread), void *user)
{
	struct label_sets before = profile->label_sets;
	CLEANUP(free_ptr) label_set_id *moved = xcalloc(before.sets.count, sizeof(*moved));

	assert(!profile->keeps_timestamps);
	profile->label_sets = (struct label_sets){0};
	for (label_set_id id = 0; id < before.sets.count; id++)
		moved[id] = move_labels(profile, &before, id, map, user);
	label_sets_deinit(&before);
	profile_relabel(profile, moved_labels, moved);
	profile->generation++;
}

uint32_t profile_generation(const struct profile *profile)
{
	return profile->generation;
}

void profile_follow(struct profile *profile, const struct profile *former)
{
	profile->generation = former->generation + 1;
}

void profile_relabel(struct profile *profile,
		     label_set_id (*labels_of)(void *user, const struct profile_sample *sample),
		     void *user)
{
	CLEANUP(free_ptr) uint32_t *moved = xcalloc(profile->samples.count, sizeof(*moved));

	sample_table_relabel(&profile->samples, &profile->stacks, labels_of, user, moved);
	timeline_move_samples(&profile->timeline, moved);
	sample_order_move_samples(&profile->sample_order, moved);
}

uint64_t profile_fade(struct profile *profile, double factor, uint64_t least_samples)
{
	return sample_table_fade(&profile->samples, factor, least_samples);
}

void profile_reduce_weight(struct profile *profile, event_id event, uint64_t by)
{
	sample_table_reduce_weight(&profile->samples, event, by);
}

void profile_keep_timestamps(struct profile *profile)
{
	profile->keeps_timestamps = true;
}

void profile_add_timed_sample(struct profile *profile,
			      const struct profile_timed_sample *timed_sample)
{
	if (profile->keeps_timestamps)
		timeline_add_sample(&profile->timeline, timed_sample);
}

void profile_sort_timed_samples(struct profile *profile)
{
	timeline_sort_samples(&profile->timeline);
}

bool profile_keeps_timestamps(const struct profile *profile)
{
	return profile->keeps_timestamps;
}

void profile_add_interval(struct profile *profile, const struct profile_interval *interval)
{
	if (profile->keeps_timestamps)
		timeline_add_interval(&profile->timeline, interval);
}

void profile_sort_intervals(struct profile *profile)
{
	timeline_sort_intervals(&profile->timeline);
}

void profile_add_marker(struct profile *profile, const struct profile_marker *marker)
{
	if (profile->keeps_timestamps)
		timeline_add_marker(&profile->timeline, marker);
}

void profile_keep_sample_order(struct profile *profile)
{
	profile->sample_order.are_kept = true;
}

void profile_add_to_sample_order(struct profile *profile, pid_t tid, uint32_t sample)
{
	sample_order_add(&profile->sample_order, tid, sample);
}

void profile_add_polls(struct profile *profile, const char *task, uint64_t polls)
{
	string_id name = strtab_add(profile->strings, task);
	uint32_t id = TABLE_PUT(profile->polls, name, 0, (struct profile_polls){.task = name});

	profile->polls.items[id].polls += polls;
}

static const char *copy_text(struct profile *profile, const char *text)
{
	return text ? arena_strndup(&profile->arena, text, strlen(text)) : "";
}

static void copy_event_qualities(struct profile *profile, struct profile_quality *quality)
{
	size_t size_bytes = quality->event_count * sizeof(*quality->events);
	struct event_quality *copy;

	if (!size_bytes)
		return;
	copy = arena_alloc(&profile->arena, size_bytes);
	memcpy(copy, quality->events, size_bytes);
	for (size_t i = 0; i < quality->event_count; i++)
		copy[i].event = copy_text(profile, copy[i].event);
	quality->events = copy;
}

void profile_set_info(struct profile *profile, const struct profile_info *info)
{
	profile->info = *info;
	profile->info.title = copy_text(profile, info->title);
	profile->info.command = copy_text(profile, info->command);
	profile->info.host = copy_text(profile, info->host);
	profile->info.kernel = copy_text(profile, info->kernel);
	profile->info.headline = copy_text(profile, info->headline);
	copy_event_qualities(profile, &profile->info.quality);
	profile->info.remarks = copy_text(profile, info->remarks);
	profile->info.problems = copy_text(profile, info->problems);
}

function_id profile_function(struct profile *profile, const struct profile_function *function)
{
	uint32_t names = pair(profile, function->name, function->system_name);
	uint32_t place = pair(profile, function->file, function->start_line);

	return TABLE_PUT(profile->functions, table_key(names, place), 0, *function);
}

void profile_set_into_function(struct profile *profile, frame_id frame, uint64_t bytes)
{
	struct frame_entry *entry = &profile->frames.items[frame];

	assert(!entry->line_count);
	entry->into_function = bytes;
}

void profile_set_lines(struct profile *profile, frame_id frame, const struct profile_line *lines,
		       unsigned count)
{
	struct frame_entry *entry = &profile->frames.items[frame];
	struct profile_line *copy;

	if (!count)
		return;
	copy = arena_alloc(&profile->arena, count * sizeof(*copy));
	memcpy(copy, lines, count * sizeof(*copy));
	entry->lines = copy;
	entry->line_count = count & ((UINT32_C(1) << 30) - 1);
	module_at(profile, entry->module)->named = true;
	for (uint32_t i = 0; i < profile->embedded_names.count; i++)
		if (profile->embedded_names.items[i].quoted == frame)
			update_embedded_name(profile, &profile->embedded_names.items[i]);
}

uint32_t profile_event_count(const struct profile *profile)
{
	return profile->events.count;
}

const struct profile_event *profile_get_event(const struct profile *profile, event_id id)
{
	return &profile->events.items[id];
}

const char *profile_event_unit(const struct profile *profile, event_id id)
{
	const struct profile_event *event = profile_get_event(profile, id);

	return event->unit ? profile_string(profile, event->unit) : value_unit(event->kind);
}

bool profile_counts_samples(const struct profile *profile, event_id id)
{
	const struct profile_event *event = profile_get_event(profile, id);

	return !event->one_value || !strcmp(profile_string(profile, event->name), "samples");
}

struct humanized profile_humanize_weight(const struct profile *profile, event_id id,
					 uint64_t weight)
{
	return value_humanize(profile_get_event(profile, id)->kind, profile_event_unit(profile, id),
			      weight);
}

uint32_t profile_module_count(const struct profile *profile)
{
	return profile->module_count;
}

const struct profile_module *profile_get_module(const struct profile *profile, uint32_t id)
{
	static const struct profile_module unknown = {.kind = PROFILE_MODULE_UNKNOWN};

	if (id == PROFILE_SYNTHETIC)
		return &profile->synthetic;
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
		.is_named = entry->is_named,
		.lines = entry->line_count ? entry->lines : NULL,
		.line_count = entry->line_count,
	};
}

struct profile_stacks profile_stacks(const struct profile *profile)
{
	return (struct profile_stacks){profile->stacks.items, profile->stacks.count};
}

uint32_t profile_thread_count(const struct profile *profile)
{
	return profile->label_sets.threads.count;
}

const struct profile_thread *profile_get_thread(const struct profile *profile, thread_id id)
{
	return &profile->label_sets.threads.items[id];
}

uint32_t profile_label_set_count(const struct profile *profile)
{
	return profile->label_sets.sets.count;
}

const struct profile_label_set *profile_get_label_set(const struct profile *profile,
						      label_set_id id)
{
	return &profile->label_sets.sets.items[id];
}

const struct profile_thread *profile_thread_of(const struct profile *profile, label_set_id id)
{
	return profile_get_thread(profile, profile_get_label_set(profile, id)->thread);
}

uint32_t profile_function_count(const struct profile *profile)
{
	return profile->functions.count;
}

const struct profile_function *profile_get_function(const struct profile *profile, function_id id)
{
	return &profile->functions.items[id];
}

struct profile_samples profile_samples(const struct profile *profile)
{
	return (struct profile_samples){profile->samples.items, profile->samples.count};
}

struct profile_timed_samples profile_timed_samples(const struct profile *profile)
{
	const struct timeline *timeline = &profile->timeline;

	return (struct profile_timed_samples){timeline->samples, timeline->sample_count};
}

struct profile_intervals profile_intervals(const struct profile *profile)
{
	const struct timeline *timeline = &profile->timeline;

	return (struct profile_intervals){timeline->intervals, timeline->interval_count};
}

uint64_t profile_marker_count(const struct profile *profile)
{
	return profile->timeline.marker_count;
}

const struct profile_marker *profile_get_marker(const struct profile *profile, uint64_t index)
{
	return &profile->timeline.markers[index];
}

struct sample_order profile_sample_order(const struct profile *profile)
{
	return profile->sample_order;
}

uint32_t profile_polls_count(const struct profile *profile)
{
	return profile->polls.count;
}

const struct profile_polls *profile_get_polls(const struct profile *profile, uint32_t index)
{
	return &profile->polls.items[index];
}

const struct profile_info *profile_get_info(const struct profile *profile)
{
	return &profile->info;
}

uint64_t profile_frame_vaddr(const struct profile *profile, frame_id id)
{
	const struct frame_entry *entry = &profile->frames.items[id];
	const struct profile_module *module = profile_get_module(profile, entry->module);

	/*
	 * A return address can be the first byte after the segment. The call is
	 * inside.
	 */
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

uint64_t profile_frame_into_function(const struct profile *profile, frame_id id)
{
	const struct frame_entry *entry = &profile->frames.items[id];

	return entry->line_count ? 0 : entry->into_function;
}

uint64_t profile_frame_function_address(const struct profile *profile, frame_id id)
{
	return profile_frame_address(profile, id) - profile_frame_into_function(profile, id);
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
			 profile_frame_function_address(profile, id));
}
