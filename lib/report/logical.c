#include "report/logical.h"

#include "base/alloc.h"
#include "base/text.h"
#include "profile/code_origin.h"
#include "profile/transfer.h"

#include <stdlib.h>
#include <string.h>

/* How far a stack has been mapped: up to the glue at its leaf. */
struct place {
	stack_id stack;	      /* of the result */
	uint32_t pending;     /* lines of glue since its leaf … */
	uint32_t runtime;     /* … of this runtime; NO_RUNTIME: of none … */
	bool is_of_scheduler; /* … by a scheduler, else by an entry */
};

struct folder {
	const struct profile *from;
	struct profile *to;
	struct display_labels labels;
	struct fates fates;
	uint32_t *program_end; /* by frame: after its innermost line of the program; 0: none */
	bool *leads;	       /* by stack: to a function of the program below it */
	struct place *places;  /* by stack */
	uint32_t *samples;     /* of the result, by our sample */
	struct transfer transfer;
	struct idmap modules;
	struct profile_line *lines; /* of the frame that is being mapped, outermost first */
	uint32_t line_count, line_room;
};

/* Where user space enters the kernel, by name: x86-64, aarch64. */
static const char *const kernel_entries[] = {"entry_SYSCALL_64",    "entry_INT80", "asm_exc_",
					     "asm_sysvec_",	    "el0t_64_",	   "ret_from_fork",
					     "asm_common_interrupt"};

/* "[libfoo.so+0x1a2b]" */
static bool is_address(const char *name)
{
	return *name == '[' && strstr(name, "+0x");
}

/* By spelling, in a file that says no more. */
static bool looks_fixed(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kernel_entries); i++)
		if (text_begins(name, kernel_entries[i]))
			return true;
	return *name == '[' && !is_address(name);
}

static bool is_fixed(const struct display_labels *labels, uint32_t label)
{
	enum profile_module_kind kind = display_labels_kind(labels, label);

	return kind == PROFILE_MODULE_KERNEL || kind == PROFILE_MODULE_SYNTHETIC ||
	       (kind == PROFILE_MODULE_NONE && looks_fixed(labels->items[label].name));
}

static enum fate fate_of_address(const char *name)
{
	const char *file = name + 1;
	CLEANUP(free_ptr) char *module = xstrndup(file, (size_t)(strstr(file, "+0x") - file));

	return code_class_of(module, "").role == ROLE_WORK ? FATE_ADDRESS : FATE_PROGRAM;
}

/* The row of a runtime, from its first function on. */
static uint32_t runtime_called(struct fates *fates, const char *name, uint32_t module)
{
	CLEANUP(free_ptr) char *row = xasprintf("[%s runtime]", name);

	for (uint32_t i = 0; i < fates->runtime_count; i++)
		if (!strcmp(fates->runtimes[i].name, row))
			return i;
	GROW(fates->runtimes, fates->runtime_count, fates->runtime_room);
	fates->runtimes[fates->runtime_count] = (struct runtime_row){.name = STEAL(row),
								     .module = module};
	return fates->runtime_count++;
}

static enum fate fate_of_label(const struct display_labels *labels, uint32_t id,
			       const char **runtime)
{
	static const enum fate fates[] = {
		[ROLE_PROGRAM] = FATE_PROGRAM,	   [ROLE_WORK] = FATE_WORK,
		[ROLE_ADAPTOR] = FATE_ADAPTOR,	   [ROLE_ENTRY] = FATE_ENTRY,
		[ROLE_SCHEDULER] = FATE_SCHEDULER,
	};
	const struct label *label = &labels->items[id];
	struct code_class class;

	*runtime = NULL;
	if (is_fixed(labels, id))
		return FATE_FIXED;
	if (is_address(label->name))
		return fate_of_address(label->name);
	class = code_class_of(display_module_name(labels->profile, label->module), label->name);
	*runtime = class.runtime;
	return fates[class.role];
}

/* The main() of a program in Rust calls std::rt, which calls the one in the source. */
static void find_main_of_rust(const struct display_labels *labels, struct fates *fates)
{
	uint32_t modules = profile_module_count(labels->profile);
	CLEANUP(free_ptr) bool *is_rust = xcalloc(modules, sizeof(*is_rust));

	for (uint32_t i = 0; i < labels->count; i++)
		if (labels->items[i].module < modules &&
		    text_begins(labels->items[i].name, "std::rt::lang_start"))
			is_rust[labels->items[i].module] = true;
	for (uint32_t i = 0; i < labels->count; i++) {
		uint32_t module = labels->items[i].module;

		if (module < modules && is_rust[module] && !strcmp(labels->items[i].name, "main"))
			fates->items[i] = (struct label_fate){FATE_ENTRY,
							      runtime_called(fates, "std", module)};
	}
}

void fates_init(struct fates *fates, const struct display_labels *labels)
{
	*fates = (struct fates){0};
	fates->items = xcalloc(labels->count, sizeof(*fates->items));
	for (uint32_t i = 0; i < labels->count; i++) {
		const char *runtime;
		enum fate fate = fate_of_label(labels, i, &runtime);

		fates->items[i] = (struct label_fate){
			fate, runtime ? runtime_called(fates, runtime, labels->items[i].module)
				      : NO_RUNTIME};
	}
	find_main_of_rust(labels, fates);
}

void fates_deinit(struct fates *fates)
{
	for (uint32_t i = 0; i < fates->runtime_count; i++)
		free(fates->runtimes[i].name);
	free(fates->runtimes);
	free(fates->items);
	*fates = (struct fates){0};
}

static bool is_glue(enum fate fate)
{
	return fate == FATE_ADAPTOR || fate == FATE_ENTRY || fate == FATE_SCHEDULER;
}

static const struct label_fate *fate_of_line(const struct folder *folder, uint32_t line)
{
	return &folder->fates.items[folder->labels.lines[line].label];
}

static uint32_t find_program_end(const struct folder *folder, frame_id frame)
{
	uint32_t end = folder->labels.first_line[frame + 1];

	while (end > folder->labels.first_line[frame])
		if (fate_of_line(folder, --end)->fate == FATE_PROGRAM)
			return end + 1;
	return 0;
}

/* A parent's id is below its children's. */
static void find_leads(struct folder *folder)
{
	const struct profile_stacks stacks = profile_stacks(folder->from);
	uint32_t frames = profile_frame_count(folder->from);

	folder->program_end = xcalloc(frames, sizeof(*folder->program_end));
	for (frame_id i = 0; i < frames; i++)
		folder->program_end[i] = find_program_end(folder, i);
	folder->leads = xcalloc(stacks.count, sizeof(*folder->leads));
	for (stack_id i = stacks.count; i-- > 1;) {
		frame_id frame = stacks.items[i].frame;
		uint32_t line = folder->labels.first_line[frame];

		if ((folder->leads[i] || folder->program_end[frame]) &&
		    fate_of_line(folder, line)->fate != FATE_FIXED)
			folder->leads[stacks.items[i].parent] = true;
	}
}

/* The row of a runtime that leads to nothing. */
static frame_id runtime_frame(struct folder *folder, const struct place *place)
{
	const struct runtime_row *row = &folder->fates.runtimes[place->runtime];
	string_id name = strtab_add(profile_strings(folder->to), row->name);
	const struct profile_function function = {.name = name, .system_name = name};
	const struct profile_line line = {
		.function = profile_function(folder->to, &function),
		.folded = place->pending,
	};

	return profile_named_frame(folder->to, transfer_module(&folder->transfer, row->module), 0,
				   &line, 1);
}

static struct place place_at(stack_id stack)
{
	return (struct place){.stack = stack, .runtime = NO_RUNTIME};
}

/* Glue that leads to nothing but notes and the kernel, or to nothing at all. */
static void end_glue(struct folder *folder, struct place *place)
{
	if (place->runtime != NO_RUNTIME && (place->is_of_scheduler || place->stack == STACK_EMPTY))
		place->stack = profile_push(folder->to, place->stack, runtime_frame(folder, place));
	*place = place_at(place->stack);
}

static void add_glue(struct place *place, const struct label_fate *fate)
{
	place->pending++;
	if (fate->runtime == NO_RUNTIME || (place->is_of_scheduler && fate->fate != FATE_SCHEDULER))
		return;
	place->runtime = fate->runtime;
	place->is_of_scheduler = fate->fate == FATE_SCHEDULER;
}

static void keep_line(struct folder *folder, struct place *place, const struct profile_line *line)
{
	GROW(folder->lines, folder->line_count, folder->line_room);
	folder->lines[folder->line_count++] = (struct profile_line){
		.function = transfer_function(&folder->transfer, line->function),
		.line = line->line,
		.folded = place->pending,
	};
	*place = place_at(place->stack);
}

/* Whether a line of this label, at this place of a stack, is folded. */
static bool is_folded(const struct folder *folder, const struct place *place, uint32_t label,
		      bool leads)
{
	enum fate fate = folder->fates.items[label].fate;

	if (fate != FATE_WORK && fate != FATE_ADDRESS)
		return is_glue(fate);
	if (place->is_of_scheduler && !leads)
		return true;
	return fate == FATE_ADDRESS && leads && place->stack == STACK_EMPTY && !folder->line_count;
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
	*place = place_at(place->stack);
}

static bool stays_whole(const struct folder *folder, const struct place *place, frame_id frame,
			bool leads)
{
	const uint32_t *first_line = folder->labels.first_line;

	if (place->pending)
		return false;
	for (uint32_t i = first_line[frame]; i < first_line[frame + 1]; i++)
		if (is_folded(folder, place, folder->labels.lines[i].label, leads))
			return false;
	return true;
}

static void map_lines(struct folder *folder, struct place *place, frame_id id, bool leads)
{
	const struct profile_frame frame = profile_get_frame(folder->from, id);
	uint32_t first = folder->labels.first_line[id];

	for (uint32_t i = first; i < folder->labels.first_line[id + 1]; i++) {
		bool leads_here = leads || i < folder->program_end[id];

		if (is_folded(folder, place, folder->labels.lines[i].label, leads_here))
			add_glue(place, fate_of_line(folder, i));
		else
			keep_line(folder, place, &frame.lines[frame.line_count - 1 - (i - first)]);
	}
	push_lines(folder, place, &frame);
}

/* A frame without lines has one label. */
static void map_address(struct folder *folder, struct place *place, frame_id id, bool leads)
{
	uint32_t line = folder->labels.first_line[id];

	if (is_folded(folder, place, folder->labels.lines[line].label, leads))
		add_glue(place, fate_of_line(folder, line));
	else
		push_whole(folder, place, id);
}

static void map_frame(struct folder *folder, struct place *place, frame_id id, bool leads)
{
	const struct label_fate *fate = fate_of_line(folder, folder->labels.first_line[id]);

	if (fate->fate == FATE_FIXED) {
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
	folder->places[STACK_EMPTY] = place_at(STACK_EMPTY);
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

static void copy_polls(struct folder *folder)
{
	for (uint32_t i = 0; i < profile_polls_count(folder->from); i++) {
		const struct profile_polls *polls = profile_get_polls(folder->from, i);

		profile_add_polls(folder->to, profile_string(folder->from, polls->task),
				  polls->polls);
	}
}

/* Events, modules and threads keep their numbers as far as they differ from each other. */
static void copy_tables(struct folder *folder)
{
	for (event_id i = 0; i < profile_event_count(folder->from); i++)
		transfer_event(&folder->transfer, i);
	for (uint32_t i = 0; i < profile_module_count(folder->from); i++)
		transfer_module(&folder->transfer, i);
	profile_set_info(folder->to, profile_get_info(folder->from));
	copy_polls(folder);
}

static void folder_deinit(struct folder *folder)
{
	display_labels_deinit(&folder->labels);
	transfer_deinit(&folder->transfer);
	idmap_deinit(&folder->modules);
	fates_deinit(&folder->fates);
	free(folder->program_end);
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
	fates_init(&folder.fates, &folder.labels);
	copy_tables(&folder);
	find_leads(&folder);
	map_stacks(&folder);
	copy_samples(&folder);
	copy_times(&folder);
	return folder.to;
}

/* "[not sampled]" alone is no stack of calls. */
static bool is_note(const struct view *view, stack_id stack)
{
	return view->stacks[stack].parent == STACK_EMPTY &&
	       profile_get_frame(view->profile, view->stacks[stack].frame).module ==
		       PROFILE_SYNTHETIC;
}

static stack_id hottest_stack(const struct view *view)
{
	uint32_t count = profile_stacks(view->profile).count;
	stack_id hottest = STACK_EMPTY;
	uint64_t most = 0;

	for (stack_id i = 1; i < count; i++) {
		uint64_t self = view->stacks[i].total.weight ? view_self(view, i).weight : 0;

		if (self > most && !is_note(view, i)) {
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
		const char *runtime;

		for (uint32_t at = labels->first_line[frame]; at < labels->first_line[frame + 1];
		     at++) {
			share.lines++;
			share.glue +=
				is_glue(fate_of_label(labels, labels->lines[at].label, &runtime));
		}
	}
	return share;
}
