#include "format/otlp/dictionary.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/utf8.h"
#include "format/otlp/fields.h"

#include <stdlib.h>
#include <string.h>

void otlp_dictionary_init(struct otlp_dictionary *dictionary, const struct profile *profile,
			  enum name_style names)
{
	*dictionary = (struct otlp_dictionary){
		.profile = profile,
		.strings = strtab_new(),
		.attributes = strtab_new(),
		.stack_indexes = xcalloc(profile_stacks(profile).count, sizeof(uint32_t)),
		.stack_count = 1,
	};
	pprof_mappings_init(&dictionary->mappings, profile);
	function_names_init(&dictionary->names, profile, names);
}

void otlp_dictionary_deinit(struct otlp_dictionary *dictionary)
{
	strtab_free(dictionary->strings);
	strtab_free(dictionary->attributes);
	free(dictionary->stack_indexes);
	free(dictionary->stacks.bytes);
	pprof_mappings_deinit(&dictionary->mappings);
	function_names_deinit(&dictionary->names);
	free(dictionary->message.bytes);
	free(dictionary->nested.bytes);
	free(dictionary->list.bytes);
}

uint32_t otlp_string(struct otlp_dictionary *dictionary, const char *text)
{
	struct arena arena = {0};
	uint32_t index = strtab_add(dictionary->strings, utf8_valid(text, &arena));

	arena_deinit(&arena);
	return index;
}

static void dictionary_put_text(struct wire_message *message, uint32_t field, const char *text)
{
	struct arena arena = {0};
	const char *valid = utf8_valid(text, &arena);

	wire_put_bytes(message, field, valid, strlen(valid));
	arena_deinit(&arena);
}

/* The AnyValue is in dictionary->nested. */
static uint32_t attribute(struct otlp_dictionary *dictionary, const char *key, const char *unit)
{
	struct wire_message *message = &dictionary->message;

	message->len = 0;
	wire_put_number(message, OTLP_ATTRIBUTE_KEY, otlp_string(dictionary, key));
	wire_put_message(message, OTLP_ATTRIBUTE_VALUE, &dictionary->nested);
	wire_put_number(message, OTLP_ATTRIBUTE_UNIT, otlp_string(dictionary, unit));
	return strtab_add_len(dictionary->attributes, (const char *)message->bytes, message->len);
}

uint32_t otlp_text_attribute(struct otlp_dictionary *dictionary, const char *key, const char *text)
{
	dictionary->nested.len = 0;
	dictionary_put_text(&dictionary->nested, OTLP_ANY_STRING, text);
	return attribute(dictionary, key, "");
}

uint32_t otlp_number_attribute(struct otlp_dictionary *dictionary, const char *key, int64_t number,
			       const char *unit)
{
	dictionary->nested.len = 0;
	wire_put_present(&dictionary->nested, OTLP_ANY_INT, (uint64_t)number);
	return attribute(dictionary, key, unit);
}

uint32_t otlp_stack(struct otlp_dictionary *dictionary, stack_id id)
{
	const struct profile_stack *stacks = profile_stacks(dictionary->profile).items;
	uint32_t *index = &dictionary->stack_indexes[id];

	if (*index || id == STACK_EMPTY)
		return *index;
	dictionary->list.len = dictionary->message.len = 0;
	for (struct profile_stack stack = stacks[id]; stack.depth; stack = stacks[stack.parent])
		wire_put_varint(&dictionary->list, (uint64_t)stack.frame + 1);
	wire_put_message(&dictionary->message, OTLP_STACK_LOCATIONS, &dictionary->list);
	wire_put_message(&dictionary->stacks, OTLP_DICTIONARY_STACK, &dictionary->message);
	return *index = dictionary->stack_count++;
}

/* Writes a packed list of one index, if it is not 0. */
static void put_index(struct otlp_dictionary *dictionary, uint32_t field, uint32_t index)
{
	dictionary->list.len = 0;
	if (!index)
		return;
	wire_put_varint(&dictionary->list, index);
	wire_put_message(&dictionary->message, field, &dictionary->list);
}

static void dictionary_put_mapping(struct otlp_dictionary *dictionary,
				   const struct pprof_mapping *mapping, struct wire_message *into)
{
	const struct profile *profile = dictionary->profile;
	const struct profile_module *module = profile_get_module(profile, mapping->module);
	const char *path = module->path ? profile_string(profile, module->path) : "[unknown]";
	struct wire_message *message = &dictionary->message;
	uint32_t build_id = 0;

	if (module->build_id)
		build_id = otlp_text_attribute(dictionary, "process.executable.build_id.gnu",
					       profile_string(profile, module->build_id));
	message->len = 0;
	wire_put_number(message, OTLP_MAPPING_START, mapping->start);
	wire_put_number(message, OTLP_MAPPING_LIMIT, mapping->limit);
	wire_put_number(message, OTLP_MAPPING_OFFSET, mapping->offset);
	wire_put_number(message, OTLP_MAPPING_FILENAME, otlp_string(dictionary, path));
	put_index(dictionary, OTLP_MAPPING_ATTRIBUTES, build_id);
	wire_put_message(into, OTLP_DICTIONARY_MAPPING, message);
}

static void dictionary_put_mappings(struct otlp_dictionary *dictionary, struct wire_message *into)
{
	const struct pprof_mappings *mappings = &dictionary->mappings;

	wire_put_bytes(into, OTLP_DICTIONARY_MAPPING, NULL, 0);
	for (uint32_t i = 0; i < mappings->count; i++)
		dictionary_put_mapping(dictionary, &mappings->places[mappings->in_order[i]], into);
}

static void dictionary_put_functions(struct otlp_dictionary *dictionary, struct wire_message *into)
{
	const struct profile *profile = dictionary->profile;
	struct wire_message *message = &dictionary->message;

	wire_put_bytes(into, OTLP_DICTIONARY_FUNCTION, NULL, 0);
	for (function_id i = 0; i < profile_function_count(profile); i++) {
		const struct profile_function *function = profile_get_function(profile, i);
		const char *name = function_names_get(&dictionary->names, i);
		const char *system_name = profile_string(profile, function->system_name);
		const char *file = profile_string(profile, function->file);

		message->len = 0;
		wire_put_number(message, OTLP_FUNCTION_NAME, otlp_string(dictionary, name));
		wire_put_number(message, OTLP_FUNCTION_SYSTEM_NAME,
				otlp_string(dictionary, system_name));
		wire_put_number(message, OTLP_FUNCTION_FILENAME, otlp_string(dictionary, file));
		wire_put_number(message, OTLP_FUNCTION_START_LINE, function->start_line);
		wire_put_message(into, OTLP_DICTIONARY_FUNCTION, message);
	}
}

/* Returns the value of profile.frame.type if it is certain, else NULL. */
static const char *frame_type(const struct otlp_dictionary *dictionary, uint32_t module)
{
	const struct profile_module *description = profile_get_module(dictionary->profile, module);
	const char *path = profile_string(dictionary->profile, description->path);

	switch (description->kind) {
	case PROFILE_MODULE_KERNEL:
		return "kernel";
	case PROFILE_MODULE_FILE:
	case PROFILE_MODULE_VDSO:
		return "native";
	case PROFILE_MODULE_INTERPRETED:
		return !strcmp(path, "[python]") ? "cpython" : NULL;
	default:
		return NULL;
	}
}

/*
 * An unsymbolized frame has no lines. Receivers find its symbol by mapping and
 * address.
 */
static void dictionary_put_location(struct otlp_dictionary *dictionary, frame_id id,
				    struct wire_message *into)
{
	const struct profile *profile = dictionary->profile;
	struct profile_frame frame = profile_get_frame(profile, id);
	const struct pprof_mapping *mapping = pprof_mapping_of(&dictionary->mappings, profile, id);
	const char *type = frame_type(dictionary, frame.module);
	uint32_t type_index = type ? otlp_text_attribute(dictionary, "profile.frame.type", type)
				   : 0;
	struct wire_message *message = &dictionary->message;

	message->len = 0;
	if (mapping)
		wire_put_number(message, OTLP_LOCATION_MAPPING, mapping->id);
	if (frame.module != PROFILE_SYNTHETIC)
		wire_put_number(message, OTLP_LOCATION_ADDRESS, pprof_address(profile, id));
	for (unsigned i = 0; i < frame.line_count; i++) {
		struct wire_message *line = &dictionary->nested;

		line->len = 0;
		wire_put_number(line, OTLP_LINE_FUNCTION, (uint64_t)frame.lines[i].function + 1);
		wire_put_number(line, OTLP_LINE_LINE, frame.lines[i].line);
		wire_put_message(message, OTLP_LOCATION_LINE, line);
	}
	put_index(dictionary, OTLP_LOCATION_ATTRIBUTES, type_index);
	wire_put_message(into, OTLP_DICTIONARY_LOCATION, message);
}

static void dictionary_put_locations(struct otlp_dictionary *dictionary, struct wire_message *into)
{
	wire_put_bytes(into, OTLP_DICTIONARY_LOCATION, NULL, 0);
	for (frame_id i = 0; i < profile_frame_count(dictionary->profile); i++)
		dictionary_put_location(dictionary, i, into);
}

static void dictionary_put_table(const struct strtab *table, uint32_t field,
				 struct wire_message *into)
{
	for (string_id i = 0; i < strtab_count(table); i++)
		wire_put_bytes(into, field, strtab_get(table, i), strtab_len(table, i));
}

void otlp_dictionary_put(struct otlp_dictionary *dictionary, struct wire_message *into)
{
	dictionary_put_mappings(dictionary, into);
	dictionary_put_locations(dictionary, into);
	dictionary_put_functions(dictionary, into);
	wire_put_bytes(into, OTLP_DICTIONARY_LINK, NULL, 0);
	dictionary_put_table(dictionary->strings, OTLP_DICTIONARY_STRING, into);
	dictionary_put_table(dictionary->attributes, OTLP_DICTIONARY_ATTRIBUTE, into);
	wire_put_bytes(into, OTLP_DICTIONARY_STACK, NULL, 0);
	wire_append(into, dictionary->stacks.bytes, dictionary->stacks.len);
}

void otlp_put_key_value(struct wire_message *into, uint32_t field, const char *key,
			const char *text)
{
	struct wire_message value = {0}, pair = {0};

	dictionary_put_text(&value, OTLP_ANY_STRING, text);
	dictionary_put_text(&pair, OTLP_KEY_VALUE_KEY, key);
	wire_put_message(&pair, OTLP_KEY_VALUE_VALUE, &value);
	wire_put_message(into, field, &pair);
	free(value.bytes);
	free(pair.bytes);
}
