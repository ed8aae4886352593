#include "report/merge.h"

#include "base/alloc.h"
#include "base/idmap.h"
#include "report/stable_name.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A file of the result. */
struct merged_module {
	string_id build_id; /* of the first input that has the file */
	bool is_one_file;   /* the same build-id in all inputs that have it */
};

struct merger {
	struct profile *to;
	bool by_name_alone;
	struct merged_module *modules;
	uint32_t module_count, module_room;
	struct idmap module_ids; /* by (name, kind) */
	struct idmap frames;	 /* by (name of the function, module) */
};

/* One input of the merge. */
struct source {
	const struct merge_input *input;
	const struct profile *profile;
	const char *main_name; /* the name of its program in the result; NULL if unchanged */
	const char *process;   /* the name of its processes in the result; NULL if unchanged */
	uint32_t *modules;     /* modules of the result, by module of the input */
	string_id *names;      /* function names in the result; 0 if not used yet */
	frame_id *frames;      /* frames of the result, root first */
	/*
	 * Frame i of the input becomes those from first_frame[i] to before
	 * first_frame[i + 1].
	 */
	uint32_t *first_frame;
	size_t frame_count, frame_room;
};

static char *merge_module_name(const struct profile *profile, uint32_t id)
{
	return stable_file_name(profile_string(profile, profile_get_module(profile, id)->path));
}

/* Returns UINT32_MAX if there is none. */
static uint32_t main_module(const struct profile *profile)
{
	for (uint32_t i = 0; i < profile_module_count(profile); i++)
		if (profile_get_module(profile, i)->is_main)
			return i;
	return UINT32_MAX;
}

static bool has_module_called(const struct profile *profile, const char *name)
{
	for (uint32_t i = 0; i < profile_module_count(profile); i++) {
		CLEANUP(free_ptr) char *other = merge_module_name(profile, i);

		if (!strcmp(other, name))
			return true;
	}
	return false;
}

/*
 * Returns the main program's name in the result. Two builds of a program are
 * two files. They correspond to each other unless a recording contains both; a
 * recording of the whole machine has no main program. The result lives as long
 * as the strings of the merged profile.
 */
static const char *main_in_result(struct merger *merger, const struct profile *profile,
				  const struct profile *last)
{
	uint32_t ours = main_module(profile), theirs = main_module(last);
	CLEANUP(free_ptr) char *our_name = NULL;
	CLEANUP(free_ptr) char *their_name = NULL;
	struct strtab *strings = profile_strings(merger->to);

	if (profile == last || ours == UINT32_MAX || theirs == UINT32_MAX)
		return NULL;
	our_name = merge_module_name(profile, ours);
	their_name = merge_module_name(last, theirs);
	if (has_module_called(profile, their_name) || has_module_called(last, our_name))
		return NULL;
	return strtab_get(strings, strtab_add(strings, their_name));
}

/*
 * Returns the only name of the profile's processes, or NULL if there are
 * several.
 */
static const char *only_process(const struct profile *profile)
{
	const char *name = NULL;

	for (thread_id i = 0; i < profile_thread_count(profile); i++) {
		const char *other = profile_string(profile,
						   profile_get_thread(profile, i)->process);

		if (name && strcmp(name, other) != 0)
			return NULL;
		name = other;
	}
	return name;
}

static bool merge_has_modules(const struct profile *profile)
{
	for (frame_id i = 0; i < profile_frame_count(profile); i++) {
		uint32_t module = profile_get_frame(profile, i).module;

		if (module != PROFILE_SYNTHETIC &&
		    profile_get_module(profile, module)->kind != PROFILE_MODULE_NONE)
			return true;
	}
	return false;
}

static string_id merge_add_text(struct merger *merger, const char *text)
{
	return strtab_add(profile_strings(merger->to), text);
}

static uint32_t merge_add_module(struct merger *merger, const struct source *source,
				 const struct profile_module *module, string_id name)
{
	const struct profile *profile = source->profile;
	uint32_t *id = idmap_put(&merger->module_ids, name, module->kind);
	string_id build_id = merge_add_text(merger, profile_string(profile, module->build_id));

	if (*id != IDMAP_NONE) {
		struct merged_module *known = &merger->modules[*id];

		known->is_one_file = known->is_one_file && known->build_id == build_id;
		return *id;
	}
	*id = merger->module_count;
	GROW(merger->modules, merger->module_count, merger->module_room);
	merger->modules[merger->module_count++] =
		(struct merged_module){.build_id = build_id, .is_one_file = build_id != 0};
	profile_describe_module(
		merger->to, *id,
		&(struct profile_module){
			.kind = merger->by_name_alone ? PROFILE_MODULE_NONE : module->kind,
			.path = merge_add_text(merger, profile_string(profile, module->path)),
			.build_id = build_id,
			.is_main = module->is_main,
		});
	return *id;
}

static void merge_add_modules(struct merger *merger, struct source *source)
{
	const struct profile *profile = source->profile;
	uint32_t count = profile_module_count(profile);

	source->modules = xcalloc(count, sizeof(*source->modules));
	for (uint32_t i = 0; i < count; i++) {
		const struct profile_module *module = profile_get_module(profile, i);
		CLEANUP(free_ptr) char *name = merge_module_name(profile, i);
		bool is_renamed = module->is_main && source->main_name;

		source->modules[i] = merge_add_module(
			merger, source, module,
			merge_add_text(merger, is_renamed ? source->main_name : name));
	}
}

static frame_id merge_add_frame(struct merger *merger, uint32_t module, string_id name,
				const struct profile_function *function)
{
	uint32_t key = merger->by_name_alone ? 0 : module;
	uint32_t *frame = idmap_put(&merger->frames, name, key);

	if (*frame == IDMAP_NONE) {
		struct profile_line line = {.function = profile_function(merger->to, function)};

		*frame = profile_named_frame(merger->to, key, 0, &line, 1);
	}
	return *frame;
}

static frame_id merge_add_function(struct merger *merger, struct source *source, uint32_t module,
				   function_id id)
{
	const struct profile *profile = source->profile;
	const struct profile_function *function = profile_get_function(profile, id);

	if (!source->names[id]) {
		CLEANUP(free_ptr)
		char *name = stable_function_name(profile_string(profile, function->name));

		source->names[id] = merge_add_text(merger, name);
	}
	return merge_add_frame(
		merger, module, source->names[id],
		&(struct profile_function){
			.name = source->names[id],
			.system_name = source->names[id],
			.file = merge_add_text(merger, profile_string(profile, function->file)),
			.start_line = function->start_line,
		});
}

/*
 * Returns the file name without the brackets of "[vdso]". The caller frees it.
 */
static char *plain_file_name(const char *path)
{
	const char *name = path[0] == '[' ? path + 1 : basename(path);

	return *name ? xstrndup(name, strcspn(name, "]")) : xstrdup("unknown");
}

static frame_id merge_add_address(struct merger *merger, const struct source *source,
				  uint32_t module, frame_id id)
{
	const struct profile_module *merged = profile_get_module(merger->to, module);
	CLEANUP(free_ptr) char *file = plain_file_name(profile_string(merger->to, merged->path));
	CLEANUP(free_ptr)
	char *name = merger->modules[module].is_one_file && !merger->by_name_alone
			     ? xasprintf("[%s+0x%" PRIx64 "]", file,
					 profile_frame_function_address(source->profile, id))
			     : xasprintf("[%s]", file);
	string_id text = merge_add_text(merger, name);

	return merge_add_frame(merger, module, text,
			       &(struct profile_function){.name = text, .system_name = text});
}

static frame_id add_note(struct merger *merger, const struct source *source,
			 const struct profile_frame *frame)
{
	const struct profile_function *function = profile_get_function(source->profile,
								       frame->lines[0].function);

	return profile_synthetic_frame(merger->to, profile_string(source->profile, function->name));
}

static void merge_put_frame(struct source *source, frame_id frame)
{
	GROW(source->frames, source->frame_count, source->frame_room);
	source->frames[source->frame_count++] = frame;
}

static void add_frame_of(struct merger *merger, struct source *source, frame_id id)
{
	struct profile_frame frame = profile_get_frame(source->profile, id);
	uint32_t module;

	if (frame.module == PROFILE_SYNTHETIC) {
		merge_put_frame(source, add_note(merger, source, &frame));
		return;
	}
	module = source->modules[frame.module];
	if (!frame.line_count)
		merge_put_frame(source, merge_add_address(merger, source, module, id));
	for (unsigned i = frame.line_count; i-- > 0;)
		merge_put_frame(source, merge_add_function(merger, source, module,
							   frame.lines[i].function));
}

static void merge_add_frames(struct merger *merger, struct source *source)
{
	uint32_t count = profile_frame_count(source->profile);

	source->names = xcalloc(profile_function_count(source->profile), sizeof(*source->names));
	source->first_frame = xcalloc((size_t)count + 1, sizeof(*source->first_frame));
	for (frame_id i = 0; i < count; i++) {
		add_frame_of(merger, source, i);
		source->first_frame[i + 1] = (uint32_t)source->frame_count;
	}
}

/* Returns the stack in the result for each stack. The caller frees it. */
static stack_id *merge_add_stacks(struct merger *merger, const struct source *source)
{
	const struct profile_stacks all_stacks = profile_stacks(source->profile);
	uint32_t count = all_stacks.count;
	stack_id *stacks = xcalloc(count, sizeof(*stacks));

	for (stack_id id = 1; id < count; id++) {
		struct profile_stack stack = all_stacks.items[id];
		stack_id at = stacks[stack.parent];

		for (uint32_t i = source->first_frame[stack.frame];
		     i < source->first_frame[stack.frame + 1]; i++)
			at = profile_push(merger->to, at, source->frames[i]);
		stacks[id] = at;
	}
	return stacks;
}

/*
 * Returns for each label set the stack whose only frame is its value. The
 * caller frees it.
 */
static stack_id *merge_add_values(struct merger *merger, const struct source *source)
{
	const struct label_values *values = source->input->values;
	uint32_t count = profile_label_set_count(source->profile);
	stack_id *stacks = xcalloc(count, sizeof(*stacks));

	for (label_set_id i = 0; i < count; i++) {
		const char *text = strtab_get(values->texts, values->of_set[i]);
		frame_id frame = profile_synthetic_frame(merger->to, *text ? text : "(none)");

		stacks[i] = profile_push(merger->to, STACK_EMPTY, frame);
	}
	return stacks;
}

static label_set_id *add_label_sets(struct merger *merger, const struct source *source)
{
	uint32_t count = profile_label_set_count(source->profile);
	label_set_id *label_sets = xcalloc(count, sizeof(*label_sets));

	for (label_set_id id = 0; id < count; id++) {
		const struct profile_thread *thread = profile_thread_of(source->profile, id);
		const char *process = source->process
					      ? source->process
					      : profile_string(source->profile, thread->process);

		label_sets[id] = profile_thread_labels(merger->to, -1, -1, process, "");
	}
	return label_sets;
}

static uint64_t merge_scaled(uint64_t value, double scale)
{
	return (uint64_t)llround((double)value * scale);
}

static void merge_add_samples(struct merger *merger, const struct source *source)
{
	const struct profile_samples samples = profile_samples(source->profile);
	const struct merge_input *input = source->input;
	CLEANUP(free_ptr)
	stack_id *stacks = input->values ? merge_add_values(merger, source)
					 : merge_add_stacks(merger, source);
	CLEANUP(free_ptr) label_set_id *label_sets = add_label_sets(merger, source);

	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];

		if (sample->event != input->event ||
		    (input->label_sets && !input->label_sets[sample->labels]))
			continue;
		profile_add_samples(merger->to, label_sets[sample->labels],
				    stacks[input->values ? sample->labels : sample->stack],
				    input->column,
				    merge_scaled(sample->samples, input->sample_scale),
				    merge_scaled(sample->weight, input->weight_scale));
	}
}

static void add_columns(struct merger *merger, const struct merge_column *columns, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		profile_add_event(merger->to,
				  &(struct profile_event){
					  .name = merge_add_text(merger, columns[i].name),
					  .kind = columns[i].kind,
					  .unit = columns[i].unit
							  ? merge_add_text(merger, columns[i].unit)
							  : 0,
				  });
}

/* Processes are renamed only if all inputs agree. */
static void find_process(struct source *sources, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!only_process(sources[i].profile))
			return;
	for (size_t i = 0; i < count; i++)
		sources[i].process = only_process(sources[count - 1].profile);
}

static void source_deinit(struct source *source)
{
	free(source->modules);
	free(source->names);
	free(source->frames);
	free(source->first_frame);
}

static void merger_deinit(struct merger *merger)
{
	free(merger->modules);
	idmap_deinit(&merger->module_ids);
	idmap_deinit(&merger->frames);
}

struct profile *merge_profiles(const struct merge_input *inputs, size_t input_count,
			       const struct merge_column *columns, uint32_t column_count)
{
	CLEANUP(merger_deinit) struct merger merger = {.to = profile_new()};
	CLEANUP(free_ptr) struct source *sources = xcalloc(input_count, sizeof(*sources));

	add_columns(&merger, columns, column_count);
	for (size_t i = 0; i < input_count; i++) {
		sources[i].input = &inputs[i];
		sources[i].profile = inputs[i].profile;
		sources[i].main_name = main_in_result(&merger, inputs[i].profile,
						      inputs[input_count - 1].profile);
		merger.by_name_alone = merger.by_name_alone ||
				       !merge_has_modules(inputs[i].profile);
	}
	find_process(sources, input_count);
	/* The last input comes first, so that its names are used. */
	for (size_t i = input_count; i-- > 0;)
		merge_add_modules(&merger, &sources[i]);
	for (size_t i = input_count; i-- > 0;) {
		if (!inputs[i].values)
			merge_add_frames(&merger, &sources[i]);
		merge_add_samples(&merger, &sources[i]);
		source_deinit(&sources[i]);
	}
	return merger.to;
}
