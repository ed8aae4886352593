#include "record/local_symbols.h"

#include "base/alloc.h"
#include "record/local_pipeline.h"

#include <stdlib.h>
#include <string.h>

/* A frame of the profile and the corresponding frame in the pipeline. */
struct local_symbols_pair {
	frame_id frame, local;
};

struct local_symbols {
	struct profile *profile;
	const struct import_options *options;
	struct pipeline pipeline;
	bool *are_mapped; /* by module of the profile */
	struct local_symbols_pair *pairs;
	size_t count, room;
};

static void local_symbols_deinit(struct local_symbols *local)
{
	pipeline_close(&local->pipeline);
	free(local->are_mapped);
	free(local->pairs);
}

static bool lacks_symbols(const struct profile *profile, frame_id id)
{
	struct profile_frame frame = profile_get_frame(profile, id);
	const struct profile_module *module = profile_get_module(profile, frame.module);

	return !frame.line_count && module->kind == PROFILE_MODULE_FILE && !module->named &&
	       module->segment_count && profile_string(profile, module->path)[0] == '/';
}

static bool has_such_frames(const struct profile *profile)
{
	for (frame_id id = 0; id < profile_frame_count(profile); id++)
		if (lacks_symbols(profile, id))
			return true;
	return false;
}

/* Each module gets its own process, because pprof files of several processes
 * have overlapping mappings. */
static pid_t pid_of(uint32_t module)
{
	return (pid_t)(module % INT32_MAX) + 1;
}

static void local_symbols_map_module(struct local_symbols *local, uint32_t id)
{
	const struct profile_module *module = profile_get_module(local->profile, id);

	if (local->are_mapped[id])
		return;
	local->are_mapped[id] = true;
	for (unsigned i = 0; i < module->segment_count; i++) {
		const struct profile_segment *segment = &module->segments[i];
		struct mapping mapping = {
			.start = segment->vaddr,
			.end = segment->vaddr + segment->size_bytes,
			.offset = segment->offset,
			.path = profile_string(local->profile, module->path),
		};

		build_id_from_hex(profile_string(local->profile, module->build_id),
				  &mapping.build_id);
		address_spaces_map(local->pipeline.spaces, pid_of(id), 0, &mapping);
	}
}

static void local_symbols_add_frame(struct local_symbols *local, frame_id id)
{
	struct address_spaces *spaces = local->pipeline.spaces;
	uint32_t module = profile_get_frame(local->profile, id).module;
	struct location location;
	frame_id frame;

	local_symbols_map_module(local, module);
	if (!address_spaces_locate(spaces, pid_of(module), 0,
				   profile_frame_vaddr(local->profile, id), &location))
		return;
	frame = profile_frame(local->pipeline.profile, location.module, location.offset, false);
	GROW(local->pairs, local->count, local->room);
	local->pairs[local->count++] = (struct local_symbols_pair){id, frame};
}

/* Reports only the first file, because a profile of another machine may lack
 * all of them. */
static void report_files(const struct local_symbols *local)
{
	const struct address_spaces *spaces = local->pipeline.spaces;
	const struct module *first = NULL;
	unsigned count = 0;

	for (module_id id = 0; id < address_spaces_module_count(spaces); id++) {
		const struct module *module = address_spaces_module(spaces, id);

		if (module->kind != MODULE_FILE || module->elf)
			continue;
		first = count++ ? first : module;
	}
	if (count)
		listener_problem(local->options->listener,
				 "functions of %u file%s have no symbols: %s", count,
				 count == 1 ? "" : "s",
				 first->problem ? first->problem : first->path);
}

static string_id local_symbols_copy_string(const struct local_symbols *local, string_id id)
{
	return strtab_add(profile_strings(local->profile),
			  profile_string(local->pipeline.profile, id));
}

static function_id copy_function(const struct local_symbols *local, function_id id)
{
	const struct profile_function *from = profile_get_function(local->pipeline.profile, id);

	return profile_function(
		local->profile,
		&(struct profile_function){
			.name = local_symbols_copy_string(local, from->name),
			.system_name = local_symbols_copy_string(local, from->system_name),
			.file = local_symbols_copy_string(local, from->file),
			.start_line = from->start_line,
		});
}

static void local_symbols_copy_lines(const struct local_symbols *local,
				     const struct local_symbols_pair *pair)
{
	struct profile_frame from = profile_get_frame(local->pipeline.profile, pair->local);
	uint32_t module = profile_get_frame(local->profile, pair->frame).module;
	uid_t user = profile_get_module(local->pipeline.profile, from.module)->source_user;
	CLEANUP(free_ptr) struct profile_line *lines = NULL;

	if (!from.line_count)
		return;
	lines = xcalloc(from.line_count, sizeof(*lines));
	for (unsigned i = 0; i < from.line_count; i++) {
		lines[i] = from.lines[i];
		lines[i].function = copy_function(local, from.lines[i].function);
	}
	profile_set_lines(local->profile, pair->frame, lines, from.line_count);
	profile_set_source_user(local->profile, module, user);
}

void local_symbols_add(struct profile *profile, const struct import_options *options)
{
	CLEANUP(local_symbols_deinit)
	struct local_symbols local = {.profile = profile, .options = options};
	struct symbolize_outcome outcome = {0};
	uint32_t frames = profile_frame_count(profile);

	if (profile_get_info(profile)->quality.is_known || !has_such_frames(profile))
		return;
	local.are_mapped = xcalloc(profile_module_count(profile), sizeof(*local.are_mapped));
	local_pipeline_open(&local.pipeline, options);
	for (frame_id id = 0; id < frames; id++)
		if (lacks_symbols(profile, id))
			local_symbols_add_frame(&local, id);
	report_files(&local);
	local_pipeline_symbolize(&local.pipeline, options, &outcome);
	symbolize_outcome_deinit(&outcome);
	for (size_t i = 0; i < local.count; i++)
		local_symbols_copy_lines(&local, &local.pairs[i]);
}
