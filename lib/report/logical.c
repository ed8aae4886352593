#include "report/logical.h"

#include "base/alloc.h"
#include "base/text.h"
#include "profile/code_origin.h"
#include "profile/transfer.h"

#include <stdlib.h>
#include <string.h>

/* How a label is treated. */
enum fate {
	FATE_PROGRAM,
	FATE_WORK,
	FATE_ADDRESS, /* of a library: an entry, where it is at the root */
	FATE_ADAPTOR,
	FATE_ENTRY,
	FATE_SCHEDULER,
	FATE_FIXED, /* the kernel's, or a note */
};

struct kind {
	enum fate fate;
	const char *runtime; /* of an entry and a scheduler */
};

/* How far a stack has been mapped: up to the glue at its leaf. */
struct place {
	stack_id stack;	      /* of the result */
	uint32_t pending;     /* lines of glue since its leaf … */
	uint32_t module;      /* … of the function that names the runtime … */
	const char *runtime;  /* … which is this; NULL: none of them does */
	bool is_of_scheduler; /* else of an entry */
};

struct folder {
	const struct profile *from;
	struct profile *to;
	struct display_labels labels;
	struct kind *kinds;	    /* by label */
	unsigned char *has_program; /* by frame: its lines, up to the innermost of the program */
	bool *leads;		    /* by stack: to a function of the program below it */
	struct place *places;	    /* by stack */
	uint32_t *samples;	    /* of the result, by our sample */
	struct transfer transfer;
	struct idmap modules;
	struct profile_line *lines; /* of the frame that is being mapped, outermost first */
	uint32_t line_count, line_room;
};

static bool is_fixed(const struct display_labels *labels, uint32_t label)
{
	enum profile_module_kind kind = display_labels_kind(labels, label);

	return kind == PROFILE_MODULE_KERNEL || kind == PROFILE_MODULE_SYNTHETIC;
}

static struct kind kind_of_label(const struct display_labels *labels, uint32_t id)
{
	const struct label *label = &labels->items[id];
	struct code_class class;

	if (is_fixed(labels, id))
		return (struct kind){.fate = FATE_FIXED};
	class = code_class_of(display_module_name(labels->profile, label->module), label->name);
	switch (class.role) {
	case ROLE_WORK:
		return (struct kind){.fate = label->is_address ? FATE_ADDRESS : FATE_WORK};
	case ROLE_ADAPTOR:
		return (struct kind){.fate = FATE_ADAPTOR};
	case ROLE_ENTRY:
		return (struct kind){FATE_ENTRY, class.runtime};
	case ROLE_SCHEDULER:
		return (struct kind){FATE_SCHEDULER, class.runtime};
	case ROLE_PROGRAM:
		break;
	}
	return (struct kind){.fate = FATE_PROGRAM};
}

/* The main() of a program in Rust calls std::rt, which calls the one in the source. */
static void find_main_of_rust(const struct display_labels *labels, struct kind *kinds)
{
	uint32_t modules = profile_module_count(labels->profile);
	CLEANUP(free_ptr) bool *is_rust = xcalloc(modules, sizeof(*is_rust));

	for (uint32_t i = 0; i < labels->count; i++)
		if (labels->items[i].module < modules &&
		    text_begins(labels->items[i].name, "std::rt::lang_start"))
			is_rust[labels->items[i].module] = true;
	for (uint32_t i = 0; i < labels->count; i++)
		if (labels->items[i].module < modules && is_rust[labels->items[i].module] &&
		    !strcmp(labels->items[i].name, "main"))
			kinds[i] = (struct kind){FATE_ENTRY, "std"};
}

static struct kind *kinds_of_labels(const struct display_labels *labels)
{
	struct kind *kinds = xcalloc(labels->count, sizeof(*kinds));

	for (uint32_t i = 0; i < labels->count; i++)
		kinds[i] = kind_of_label(labels, i);
	find_main_of_rust(labels, kinds);
	return kinds;
}

static bool is_glue(enum fate fate)
{
	return fate == FATE_ADAPTOR || fate == FATE_ENTRY || fate == FATE_SCHEDULER;
}

static const struct kind *kind_of_line(const struct folder *folder, uint32_t line)
{
	return &folder->kinds[folder->labels.lines[line].label];
}

static bool frame_leads(const struct folder *folder, frame_id frame, uint32_t from_line)
{
	for (uint32_t i = folder->labels.first_line[frame + 1]; i-- > from_line;)
		if (kind_of_line(folder, i)->fate == FATE_PROGRAM)
			return true;
	return false;
}

/* A parent's id is below its children's. */
static void find_leads(struct folder *folder)
{
	const struct profile_stacks stacks = profile_stacks(folder->from);
	uint32_t frames = profile_frame_count(folder->from);

	folder->has_program = xcalloc(frames, sizeof(*folder->has_program));
	for (frame_id i = 0; i < frames; i++)
		folder->has_program[i] = frame_leads(folder, i, folder->labels.first_line[i]);
	folder->leads = xcalloc(stacks.count, sizeof(*folder->leads));
	for (stack_id i = stacks.count; i-- > 1;)
		folder->leads[stacks.items[i].parent] |= folder->leads[i] ||
							 folder->has_program[stacks.items[i].frame];
}

/* The row of a runtime that leads to nothing. */
static frame_id runtime_frame(struct folder *folder, const struct place *place)
{
	CLEANUP(free_ptr) char *text = xasprintf("%s (runtime)", place->runtime);
	string_id name = strtab_add(profile_strings(folder->to), text);
	const struct profile_function function = {.name = name, .system_name = name};
	const struct profile_line line = {
		.function = profile_function(folder->to, &function),
		.folded = place->pending,
	};

	return profile_named_frame(folder->to, transfer_module(&folder->transfer, place->module), 0,
				   &line, 1);
}

/* Glue that leads to nothing but notes and the kernel, or to nothing at all. */
static void end_glue(struct folder *folder, struct place *place)
{
	if (place->runtime && (place->is_of_scheduler || place->stack == STACK_EMPTY))
		place->stack = profile_push(folder->to, place->stack, runtime_frame(folder, place));
	*place = (struct place){.stack = place->stack};
}

static void add_glue(struct place *place, const struct kind *kind, uint32_t module)
{
	place->pending++;
	if (!kind->runtime || (place->is_of_scheduler && kind->fate != FATE_SCHEDULER))
		return;
	place->runtime = kind->runtime;
	place->module = module;
	place->is_of_scheduler = kind->fate == FATE_SCHEDULER;
}

static void keep_line(struct folder *folder, struct place *place, const struct profile_line *line)
{
	GROW(folder->lines, folder->line_count, folder->line_room);
	folder->lines[folder->line_count++] = (struct profile_line){
		.function = transfer_function(&folder->transfer, line->function),
		.line = line->line,
		.folded = place->pending,
	};
	*place = (struct place){.stack = place->stack};
}

/* Whether a line of a library, at this place of a stack, is folded like glue. */
static bool is_folded(const struct folder *folder, const struct place *place, enum fate fate,
		      bool leads)
{
	if (is_glue(fate))
		return true;
	if (fate == FATE_ADDRESS && leads && place->stack == STACK_EMPTY && !folder->line_count)
		return true;
	return (fate == FATE_WORK || fate == FATE_ADDRESS) && place->is_of_scheduler && !leads;
}

/* The lines of a frame that stay are the lines of a frame of the result. */
static void push_lines(struct folder *folder, struct place *place, const struct profile_frame *of)
{
	uint32_t module = transfer_module(&folder->transfer, of->module);
	CLEANUP(free_ptr) struct profile_line *lines = NULL;

	if (!folder->line_count)
		return;
	lines = xcalloc(folder->line_count, sizeof(*lines));
	for (uint32_t i = 0; i < folder->line_count; i++)
		lines[i] = folder->lines[folder->line_count - 1 - i];
	place->stack = profile_push(
		folder->to, place->stack,
		profile_named_frame(folder->to, module, of->offset, lines, folder->line_count));
	folder->line_count = 0;
}

static void push_whole(struct folder *folder, struct place *place, frame_id frame)
{
	place->stack = profile_push(folder->to, place->stack,
				    transfer_frame(&folder->transfer, frame));
	*place = (struct place){.stack = place->stack};
}

static bool stays_whole(const struct folder *folder, const struct place *place, frame_id frame,
			bool leads)
{
	const uint32_t *first_line = folder->labels.first_line;

	if (place->pending)
		return false;
	for (uint32_t i = first_line[frame]; i < first_line[frame + 1]; i++)
		if (is_folded(folder, place, kind_of_line(folder, i)->fate, leads))
			return false;
	return true;
}

static void map_lines(struct folder *folder, struct place *place, frame_id id, bool leads)
{
	const struct profile_frame frame = profile_get_frame(folder->from, id);
	uint32_t first = folder->labels.first_line[id];

	for (uint32_t i = first; i < folder->labels.first_line[id + 1]; i++) {
		const struct kind *kind = kind_of_line(folder, i);
		bool leads_here = leads || (folder->has_program[id] && frame_leads(folder, id, i));

		if (is_folded(folder, place, kind->fate, leads_here))
			add_glue(place, kind, frame.module);
		else
			keep_line(folder, place, &frame.lines[frame.line_count - 1 - (i - first)]);
	}
	push_lines(folder, place, &frame);
}

/* A frame without lines has one label. */
static void map_address(struct folder *folder, struct place *place, frame_id id, bool leads)
{
	const struct kind *kind = kind_of_line(folder, folder->labels.first_line[id]);

	if (is_folded(folder, place, kind->fate, leads))
		add_glue(place, kind, profile_get_frame(folder->from, id).module);
	else
		push_whole(folder, place, id);
}

static void map_frame(struct folder *folder, struct place *place, frame_id id, bool leads)
{
	const struct kind *kind = kind_of_line(folder, folder->labels.first_line[id]);

	if (kind->fate == FATE_FIXED) {
		end_glue(folder, place);
		push_whole(folder, place, id);
	} else if (stays_whole(folder, place, id, leads)) {
		push_whole(folder, place, id);
	} else if (profile_get_frame(folder->from, id).line_count) {
		map_lines(folder, place, id, leads);
	} else {
		map_address(folder, place, id, leads);
	}
}

static void map_stacks(struct folder *folder)
{
	const struct profile_stacks stacks = profile_stacks(folder->from);

	folder->places = xcalloc(stacks.count, sizeof(*folder->places));
	for (stack_id i = 1; i < stacks.count; i++) {
		folder->places[i] = folder->places[stacks.items[i].parent];
		map_frame(folder, &folder->places[i], stacks.items[i].frame, folder->leads[i]);
	}
}

/* The stack of samples whose leaf is here. */
static stack_id end_of(struct folder *folder, stack_id stack)
{
	struct place place = folder->places[stack];

	end_glue(folder, &place);
	if (place.stack == STACK_EMPTY && stack != STACK_EMPTY)
		push_whole(folder, &place, profile_stacks(folder->from).items[stack].frame);
	return place.stack;
}

static void copy_samples(struct folder *folder)
{
	const struct profile_samples samples = profile_samples(folder->from);

	folder->samples = xcalloc(samples.count, sizeof(*folder->samples));
	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];

		folder->samples[i] = profile_add_samples(
			folder->to, transfer_label_set(&folder->transfer, sample->labels),
			end_of(folder, sample->stack),
			transfer_event(&folder->transfer, sample->event), sample->samples,
			sample->weight);
	}
}

static void copy_markers(struct folder *folder)
{
	for (uint64_t i = 0; i < profile_marker_count(folder->from); i++) {
		struct profile_marker marker = *profile_get_marker(folder->from, i);

		marker.text = strtab_add(profile_strings(folder->to),
					 profile_string(folder->from, marker.text));
		profile_add_marker(folder->to, &marker);
	}
}

static void copy_times(struct folder *folder)
{
	const struct profile_timed_samples timed = profile_timed_samples(folder->from);
	const struct profile_intervals intervals = profile_intervals(folder->from);

	if (!timed.count && !intervals.count && !profile_marker_count(folder->from))
		return;
	profile_keep_timestamps(folder->to);
	for (uint64_t i = 0; i < timed.count; i++) {
		struct profile_timed_sample sample = timed.items[i];

		sample.sample = folder->samples[sample.sample];
		profile_add_timed_sample(folder->to, &sample);
	}
	for (uint64_t i = 0; i < intervals.count; i++) {
		struct profile_interval interval = intervals.items[i];

		interval.sample = folder->samples[interval.sample];
		profile_add_interval(folder->to, &interval);
	}
	copy_markers(folder);
}

/* Events, modules and threads keep their numbers as far as they differ from each other. */
static void copy_tables(struct folder *folder)
{
	for (event_id i = 0; i < profile_event_count(folder->from); i++)
		transfer_event(&folder->transfer, i);
	for (uint32_t i = 0; i < profile_module_count(folder->from); i++)
		transfer_module(&folder->transfer, i);
	profile_set_info(folder->to, profile_get_info(folder->from));
}

static void folder_deinit(struct folder *folder)
{
	display_labels_deinit(&folder->labels);
	transfer_deinit(&folder->transfer);
	idmap_deinit(&folder->modules);
	free(folder->kinds);
	free(folder->has_program);
	free(folder->leads);
	free(folder->places);
	free(folder->samples);
	free(folder->lines);
}

struct profile *logical_profile(const struct profile *from)
{
	CLEANUP(folder_deinit) struct folder folder = {.from = from, .to = profile_new()};

	transfer_init(&folder.transfer, from, folder.to, &folder.modules);
	display_labels_init(&folder.labels, from);
	folder.kinds = kinds_of_labels(&folder.labels);
	copy_tables(&folder);
	find_leads(&folder);
	map_stacks(&folder);
	copy_samples(&folder);
	copy_times(&folder);
	return folder.to;
}

static stack_id hottest_stack(const struct view *view)
{
	uint32_t count = profile_stacks(view->profile).count;
	stack_id hottest = STACK_EMPTY;
	uint64_t most = 0;

	for (stack_id i = 1; i < count; i++) {
		uint64_t self = view->stacks[i].total.weight ? view_self(view, i).weight : 0;

		if (self > most) {
			hottest = i;
			most = self;
		}
	}
	return hottest;
}

struct glue_share glue_of_hottest(const struct view *view)
{
	const struct display_labels *labels = &view->labels;
	struct glue_share share = {0};

	for (stack_id i = hottest_stack(view); i != STACK_EMPTY; i = view->stacks[i].parent) {
		frame_id frame = view->stacks[i].frame;

		for (uint32_t at = labels->first_line[frame]; at < labels->first_line[frame + 1];
		     at++) {
			share.lines++;
			share.glue += is_glue(kind_of_label(labels, labels->lines[at].label).fate);
		}
	}
	return share;
}
