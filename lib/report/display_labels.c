#include "report/display_labels.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* Set in the key of a label that is an address. Modules are dense: none has this bit. */
#define ADDRESS_LABEL (1u << 31)

struct builder {
	struct display_labels *labels;
	const struct profile *profile;
	struct idmap ids;     /* by (name or address, module) */
	struct idmap modules; /* the first one by (path, kind) */
	size_t room, line_count, line_room;
};

static uint32_t first_module(struct builder *builder, uint32_t id)
{
	const struct profile_module *module = profile_get_module(builder->profile, id);
	uint32_t *first;

	if (!module->path)
		return id;
	first = idmap_put(&builder->modules, module->path, module->kind);
	if (*first == IDMAP_NONE)
		*first = id;
	return *first;
}

static uint32_t add_label(struct builder *builder, struct label label)
{
	struct display_labels *labels = builder->labels;

	GROW(labels->items, labels->count, builder->room);
	labels->items[labels->count] = label;
	return labels->count++;
}

static uint32_t label_of_function(struct builder *builder, uint32_t module, function_id id)
{
	const struct profile_function *function = profile_get_function(builder->profile, id);
	uint32_t *label = idmap_put(&builder->ids, function->name, module);

	if (*label == IDMAP_NONE)
		*label = add_label(builder,
				   (struct label){
					   .name = profile_string(builder->profile, function->name),
					   .module = module,
					   .file = function->file,
					   .start_line = function->start_line,
				   });
	return *label;
}

static uint32_t label_of_address(struct builder *builder, uint32_t module, frame_id frame)
{
	uint64_t address = profile_frame_address(builder->profile, frame);
	uint32_t *label = idmap_put(&builder->ids, address, module | ADDRESS_LABEL);

	if (*label == IDMAP_NONE) {
		CLEANUP(free_ptr) char *name = profile_frame_address_name(builder->profile, frame);

		*label = add_label(builder, (struct label){
						    .name = arena_strndup(&builder->labels->names,
									  name, strlen(name)),
						    .module = module,
						    .is_address = true,
					    });
	}
	return *label;
}

static void add_line(struct builder *builder, struct labelled_line line)
{
	struct display_labels *labels = builder->labels;

	GROW(labels->lines, builder->line_count, builder->line_room);
	labels->lines[builder->line_count++] = line;
}

static void add_lines(struct builder *builder, frame_id id)
{
	struct profile_frame frame = profile_get_frame(builder->profile, id);
	uint32_t module = first_module(builder, frame.module);

	if (!frame.line_count)
		add_line(builder,
			 (struct labelled_line){.label = label_of_address(builder, module, id)});
	for (unsigned i = frame.line_count; i-- > 0;)
		add_line(builder, (struct labelled_line){
					  .label = label_of_function(builder, module,
								     frame.lines[i].function),
					  .line = frame.lines[i].line & INT32_MAX,
					  .is_inlined = i + 1 < frame.line_count,
					  .folded = frame.lines[i].folded,
				  });
}

static void builder_deinit(struct builder *builder)
{
	idmap_deinit(&builder->ids);
	idmap_deinit(&builder->modules);
}

void display_labels_init(struct display_labels *labels, const struct profile *profile)
{
	CLEANUP(builder_deinit) struct builder builder = {.labels = labels, .profile = profile};
	uint32_t frames = profile_frame_count(profile);

	*labels = (struct display_labels){.profile = profile};
	labels->first_line = xcalloc((size_t)frames + 1, sizeof(*labels->first_line));
	for (frame_id i = 0; i < frames; i++) {
		add_lines(&builder, i);
		labels->first_line[i + 1] = (uint32_t)builder.line_count;
	}
}

void display_labels_deinit(struct display_labels *labels)
{
	free(labels->items);
	free(labels->lines);
	free(labels->first_line);
	arena_deinit(&labels->names);
	*labels = (struct display_labels){0};
}

enum profile_module_kind display_labels_kind(const struct display_labels *labels, uint32_t label)
{
	return profile_get_module(labels->profile, labels->items[label].module)->kind;
}

enum code_kind display_labels_code(const struct display_labels *labels, uint32_t label,
				   bool is_inlined)
{
	if (labels->items[label].is_address)
		return CODE_NAMELESS;
	switch (display_labels_kind(labels, label)) {
	case PROFILE_MODULE_KERNEL:
		return CODE_KERNEL;
	case PROFILE_MODULE_JIT:
		return CODE_JIT;
	case PROFILE_MODULE_INTERPRETED:
		return CODE_INTERPRETED;
	case PROFILE_MODULE_SYNTHETIC:
		return CODE_NOTE;
	default:
		return is_inlined ? CODE_INLINED : CODE_USER;
	}
}

const char *display_module_name(const struct profile *profile, uint32_t id)
{
	const struct profile_module *module = profile_get_module(profile, id);

	return module->kind == PROFILE_MODULE_KERNEL
		       ? "[kernel]"
		       : basename(profile_string(profile, module->path));
}
