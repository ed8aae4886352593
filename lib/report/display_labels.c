#include "report/display_labels.h"

#include "base/alloc.h"
#include "base/strtab.h"
#include "profile/unsampled.h"
#include "report/short_name.h"

#include <stdlib.h>
#include <string.h>

/*
 * Set in the key of a label that is an address. Module numbers are dense, so
 * none has this bit.
 */
#define ADDRESS_LABEL (1u << 31)

/* Functions with the same key and module have one label. */
struct function_key {
	bool is_known;
	uint32_t name; /* index in the profile's strings, or in `plain` */
	uint32_t line; /* for closures that are distinguished by it, else 0 */
};

struct display_labels_builder {
	struct display_labels *labels;
	const struct profile *profile;
	struct idmap ids;     /* by (name or address, module) */
	struct idmap modules; /* the first one by (path, kind) */
	enum name_style style;
	struct function_key *keys; /* by function */
	struct strtab *plain;	   /* names without generics; NULL if they are not needed */
	const char **full_names;   /* by label */
	size_t full_room;
	size_t room, line_count, line_room;
};

static uint32_t first_module(struct display_labels_builder *builder, uint32_t id)
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

static uint32_t display_labels_add_label(struct display_labels_builder *builder,
					 const char *full_name, struct label label)
{
	struct display_labels *labels = builder->labels;

	GROW(builder->full_names, labels->count, builder->full_room);
	builder->full_names[labels->count] = full_name;
	GROW(labels->items, labels->count, builder->room);
	labels->items[labels->count] = label;
	return labels->count++;
}

static struct function_key make_key(struct display_labels_builder *builder,
				    const struct profile_function *function)
{
	const char *name = profile_string(builder->profile, function->name);
	struct function_key key = {.is_known = true, .name = function->name};

	if (builder->style == NAMES_FULL)
		return key;
	if (name_is_closure(name))
		key.line = function->start_line;
	if (builder->plain) {
		CLEANUP(free_ptr) char *plain = name_without_generics(name);

		key.name = strtab_add(builder->plain, plain);
	}
	return key;
}

static const char *name_of_key(const struct display_labels_builder *builder,
			       const struct function_key *key)
{
	const char *name;

	if (!builder->plain)
		return profile_string(builder->profile, key->name);
	name = strtab_get(builder->plain, key->name);
	return arena_strndup(&builder->labels->names, name, strlen(name));
}

static uint32_t label_of_function(struct display_labels_builder *builder, uint32_t module,
				  function_id id)
{
	const struct profile_function *function = profile_get_function(builder->profile, id);
	struct function_key *key = &builder->keys[id];
	uint32_t *label;
	struct label new;

	if (!key->is_known)
		*key = make_key(builder, function);
	label = idmap_put(&builder->ids, (uint64_t)key->line << 32 | key->name, module);
	if (*label != IDMAP_NONE)
		return *label;
	new = (struct label){
		.name = name_of_key(builder, key),
		.module = module,
		.file = function->file,
		.start_line = function->start_line,
	};
	*label = display_labels_add_label(builder, profile_string(builder->profile, function->name),
					  new);
	return *label;
}

static uint32_t label_of_address(struct display_labels_builder *builder, uint32_t module,
				 frame_id frame)
{
	uint64_t address = profile_frame_function_address(builder->profile, frame);
	uint32_t *label = idmap_put(&builder->ids, address, module | ADDRESS_LABEL);

	if (*label == IDMAP_NONE) {
		CLEANUP(free_ptr) char *text = profile_frame_address_name(builder->profile, frame);
		const char *name = arena_strndup(&builder->labels->names, text, strlen(text));
		struct label new = {.name = name, .module = module, .is_address = true};

		*label = display_labels_add_label(builder, name, new);
	}
	return *label;
}

static void display_labels_add_line(struct display_labels_builder *builder,
				    struct labelled_line line)
{
	struct display_labels *labels = builder->labels;

	GROW(labels->lines, builder->line_count, builder->line_room);
	labels->lines[builder->line_count++] = line;
}

static void display_labels_add_lines(struct display_labels_builder *builder, frame_id id)
{
	struct profile_frame frame = profile_get_frame(builder->profile, id);
	uint32_t module = first_module(builder, frame.module);

	if (!frame.line_count)
		display_labels_add_line(
			builder,
			(struct labelled_line){.label = label_of_address(builder, module, id)});
	for (unsigned i = frame.line_count; i-- > 0;)
		display_labels_add_line(builder,
					(struct labelled_line){
						.label = label_of_function(builder, module,
									   frame.lines[i].function),
						.line = frame.lines[i].line & INT32_MAX,
						.is_inlined = i + 1 < frame.line_count,
						.folded = frame.lines[i].folded,
					});
}

static void display_labels_builder_deinit(struct display_labels_builder *builder)
{
	idmap_deinit(&builder->ids);
	idmap_deinit(&builder->modules);
	strtab_free(builder->plain);
	free(builder->keys);
	free(builder->full_names);
}

/* Returns the line if it distinguishes the label, else 0. */
static uint32_t closure_line(const struct label *label)
{
	return !label->is_address && name_is_closure(label->name) ? label->start_line : 0;
}

static void show_names(const struct display_labels_builder *builder)
{
	struct display_labels *labels = builder->labels;
	struct display_name *names = xcalloc(labels->count, sizeof(*names));

	for (uint32_t i = 0; i < labels->count; i++) {
		names[i].full = builder->full_names[i];
		names[i].plain = labels->items[i].name;
		if (builder->style != NAMES_FULL)
			names[i].line = closure_line(&labels->items[i]);
	}
	display_names_resolve(names, labels->count, builder->style, &labels->names);
	for (uint32_t i = 0; i < labels->count; i++)
		labels->items[i].shown = names[i].shown;
	free(names);
}

void display_labels_init(struct display_labels *labels, const struct profile *profile)
{
	display_labels_init_named(labels, profile, NAMES_FULL);
}

void display_labels_init_named(struct display_labels *labels, const struct profile *profile,
			       enum name_style style)
{
	CLEANUP(display_labels_builder_deinit)
	struct display_labels_builder builder = {
		.labels = labels, .profile = profile, .style = style};
	uint32_t frames = profile_frame_count(profile);

	if (style == NAMES_NO_GENERICS)
		builder.plain = strtab_new();
	builder.keys = xcalloc(profile_function_count(profile), sizeof(*builder.keys));

	*labels = (struct display_labels){.profile = profile};
	labels->first_line = xcalloc((size_t)frames + 1, sizeof(*labels->first_line));
	for (frame_id i = 0; i < frames; i++) {
		display_labels_add_lines(&builder, i);
		labels->first_line[i + 1] = (uint32_t)builder.line_count;
	}
	show_names(&builder);
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

bool display_labels_is_unsampled(const struct display_labels *labels, uint32_t label)
{
	return display_labels_kind(labels, label) == PROFILE_MODULE_SYNTHETIC &&
	       unsampled_is_name(labels->items[label].name);
}

const char *display_module_name(const struct profile *profile, uint32_t id)
{
	const struct profile_module *module = profile_get_module(profile, id);

	return module->kind == PROFILE_MODULE_KERNEL
		       ? "[kernel]"
		       : basename(profile_string(profile, module->path));
}
