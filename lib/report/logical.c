#include "report/logical.h"

#include "base/alloc.h"
#include "base/text.h"
#include "profile/code_origin.h"
#include "profile/transfer.h"

#include <stdlib.h>
#include <string.h>

/* How far a stack has been mapped: up to the glue at its leaf. */
struct logical_place {
	stack_id stack;	      /* of the result */
	uint32_t pending;     /* number of glue lines after the leaf */
	uint32_t runtime;     /* the runtime of this glue, or NO_RUNTIME */
	bool is_of_scheduler; /* the glue is a scheduler's, else an entry's */
};

struct folder {
	const struct profile *from;
	struct profile *to;
	struct display_labels labels;
	struct fates fates;
	/*
	 * For each frame, the index after its innermost line of the program, or
	 * 0.
	 */
	uint32_t *program_end;
	bool *leads; /* by stack: whether it leads to a function of the program below it */
	struct logical_place *places; /* by stack */
	uint32_t *samples;	      /* index in the result for each sample */
	struct transfer transfer;
	struct idmap modules;
	struct profile_line *lines; /* of the frame that is being mapped, outermost first */
	uint32_t line_count, line_room;
};

/* The kernel's entry points, by name: x86-64, aarch64. */
static const char *const kernel_entries[] = {"entry_SYSCALL_64",    "entry_INT80", "asm_exc_",
					     "asm_sysvec_",	    "el0t_64_",	   "ret_from_fork",
					     "asm_common_interrupt"};

/* Returns whether the name is an address: "[libfoo.so+0x1a2b]". */
static bool is_address(const char *name)
{
	return *name == '[' && strstr(name, "+0x");
}

/* Decides by name only, for files without the kinds of frames. */
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

/* Returns the row of a runtime, and creates it for its first function. */
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

/*
 * The main() of a Rust program calls std::rt, which calls the main() in the
 * source.
 */
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

static bool logical_is_glue(enum fate fate)
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

/* A parent's id is lower than its children's. */
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

/*
 * Returns the row for a runtime whose glue leads to no function of the program.
 */
static frame_id runtime_frame(struct folder *folder, const struct logical_place *place)
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

static struct logical_place logical_place_at(stack_id stack)
{
	return (struct logical_place){.stack = stack, .runtime = NO_RUNTIME};
}

/* Ends glue that leads only to notes and the kernel, or to nothing. */
static void end_glue(struct folder *folder, struct logical_place *place)
{
	if (place->runtime != NO_RUNTIME && (place->is_of_scheduler || place->stack == STACK_EMPTY))
		place->stack = profile_push(folder->to, place->stack, runtime_frame(folder, place));
	*place = logical_place_at(place->stack);
}

static void add_glue(struct logical_place *place, const struct label_fate *fate)
{
	place->pending++;
	if (fate->runtime == NO_RUNTIME || (place->is_of_scheduler && fate->fate != FATE_SCHEDULER))
		return;
	place->runtime = fate->runtime;
	place->is_of_scheduler = fate->fate == FATE_SCHEDULER;
}

static void keep_line(struct folder *folder, struct logical_place *place,
		      const struct profile_line *line)
{
	GROW(folder->lines, folder->line_count, folder->line_room);
	folder->lines[folder->line_count++] = (struct profile_line){
		.function = transfer_function(&folder->transfer, line->function),
		.line = line->line,
		.folded = place->pending,
	};
	*place = logical_place_at(place->stack);
}

/* Returns whether a line with this label is folded at this place of a stack. */
static bool is_folded(const struct folder *folder, const struct logical_place *place,
		      uint32_t label, bool leads)
{
	enum fate fate = folder->fates.items[label].fate;

	if (fate != FATE_WORK && fate != FATE_ADDRESS)
		return logical_is_glue(fate);
	if (place->is_of_scheduler && !leads)
		return true;
	return fate == FATE_ADDRESS && leads && place->stack == STACK_EMPTY && !folder->line_count;
}

/*
 * The lines of a frame that stay become the lines of one frame of the result.
 */
static void push_lines(struct folder *folder, struct logical_place *place,
		       const struct profile_frame *of)
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

static void push_whole(struct folder *folder, struct logical_place *place, frame_id frame)
{
	place->stack = profile_push(folder->to, place->stack,
				    transfer_frame(&folder->transfer, frame));
	*place = logical_place_at(place->stack);
}

static bool stays_whole(const struct folder *folder, const struct logical_place *place,
			frame_id frame, bool leads)
{
	const uint32_t *first_line = folder->labels.first_line;

	if (place->pending)
		return false;
	for (uint32_t i = first_line[frame]; i < first_line[frame + 1]; i++)
		if (is_folded(folder, place, folder->labels.lines[i].label, leads))
			return false;
	return true;
}

static void map_lines(struct folder *folder, struct logical_place *place, frame_id id, bool leads)
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
static void map_address(struct folder *folder, struct logical_place *place, frame_id id, bool leads)
{
	uint32_t line = folder->labels.first_line[id];

	if (is_folded(folder, place, folder->labels.lines[line].label, leads))
		add_glue(place, fate_of_line(folder, line));
	else
		push_whole(folder, place, id);
}

static void map_frame(struct folder *folder, struct logical_place *place, frame_id id, bool leads)
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
	folder->places[STACK_EMPTY] = logical_place_at(STACK_EMPTY);
	for (stack_id i = 1; i < stacks.count; i++) {
		folder->places[i] = folder->places[stacks.items[i].parent];
		map_frame(folder, &folder->places[i], stacks.items[i].frame, folder->leads[i]);
	}
}

/* Returns the stack for samples whose leaf is here. */
static stack_id logical_end_of(struct folder *folder, stack_id stack)
{
	struct logical_place place = folder->places[stack];

	end_glue(folder, &place);
	if (place.stack == STACK_EMPTY)
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
			logical_end_of(folder, sample->stack),
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

/*
 * Copies events, modules and threads, which keep their numbers unless some are
 * equal.
 */
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

/* Adds the lines of a frame, without those that the view does not change. */
static void logical_count_lines(struct glue_share *sum, const struct display_labels *labels,
				const struct fates *fates, frame_id frame)
{
	for (uint32_t i = labels->first_line[frame]; i < labels->first_line[frame + 1]; i++) {
		enum fate fate = fates->items[labels->lines[i].label].fate;

		sum->lines += fate != FATE_FIXED;
		sum->glue += logical_is_glue(fate);
		if (display_labels_kind(labels, labels->lines[i].label) ==
		    PROFILE_MODULE_INTERPRETED)
			sum->scripts = 1;
	}
}

/* Returns the lines of each stack. A parent's id is lower than its children's. */
static struct glue_share *logical_lines_of_stacks(const struct profile *profile)
{
	const struct profile_stacks stacks = profile_stacks(profile);
	struct glue_share *sums = xcalloc(stacks.count, sizeof(*sums));
	struct display_labels labels;
	struct fates fates;

	display_labels_init(&labels, profile);
	fates_init(&fates, &labels);
	for (stack_id i = 1; i < stacks.count; i++) {
		sums[i] = sums[stacks.items[i].parent];
		logical_count_lines(&sums[i], &labels, &fates, stacks.items[i].frame);
	}
	fates_deinit(&fates);
	display_labels_deinit(&labels);
	return sums;
}

struct glue_share glue_share_of(const struct profile *profile)
{
	const struct profile_samples samples = profile_samples(profile);
	CLEANUP(free_ptr) struct glue_share *of_stacks = logical_lines_of_stacks(profile);
	struct glue_share mean = {0};
	double weight = 0;

	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];
		const struct glue_share *stack = &of_stacks[sample->stack];

		/* "[not sampled]" alone is not a stack of calls. */
		if (sample->event != 0 || stack->lines <= 0)
			continue;
		weight += (double)sample->weight;
		mean.lines += stack->lines * (double)sample->weight;
		mean.glue += stack->glue * (double)sample->weight;
		mean.scripts += stack->scripts * (double)sample->weight;
	}
	if (weight > 0)
		mean = (struct glue_share){mean.lines / weight, mean.glue / weight,
					   mean.scripts / weight};
	return mean;
}

bool glue_share_is_most(const struct glue_share *share)
{
	/* The start of a C program is three frames, which are worth no view. */
	enum { LEAST_GLUE = 4 };

	return share->glue >= LEAST_GLUE &&
	       (2 * share->glue > share->lines || 2 * share->scripts > 1);
}
