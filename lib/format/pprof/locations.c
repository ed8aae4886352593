#include "format/pprof/locations.h"

#include "base/alloc.h"
#include "base/text.h"
#include "format/pprof/fields.h"
#include "format/pprof/input.h"
#include "format/pprof/limits.h"
#include "format/pprof/wire.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void pprof_locations_init(struct pprof_locations *locations, struct pprof_strings *strings,
			  struct pprof_modules *modules, struct pprof_prune *prune,
			  uint64_t function_count, uint64_t location_count)
{
	locations->profile = strings->profile;
	locations->strings = strings;
	locations->modules = modules;
	locations->prune = prune;
	id_table_init(&locations->frames, location_count);
	/*
	 * prof numbers the functions of unsymbolized frames by location, after
	 * the others.
	 */
	id_table_init(&locations->function_ids, function_count + location_count);
}

void pprof_locations_deinit(struct pprof_locations *locations)
{
	free(locations->functions);
	id_table_deinit(&locations->function_ids);
	id_table_deinit(&locations->frames);
	free(locations->lines);
}

/* Returns 0 (unknown) for an invalid line number. */
static uint32_t line_number(uint64_t value)
{
	return value <= INT32_MAX ? (uint32_t)value : 0;
}

struct error *pprof_locations_add_function(struct pprof_locations *locations, struct bytes message)
{
	uint64_t field[PPROF_FUNCTION_FIELDS] = {0};
	struct profile_function function;

	if (!wire_scalars(message, field, PPROF_FUNCTION_FIELDS))
		return pprof_damaged();
	if (!id_table_put(&locations->function_ids, field[PPROF_FUNCTION_ID],
			  locations->function_count))
		return error_new("two functions have the id %" PRIu64, field[PPROF_FUNCTION_ID]);
	function = (struct profile_function){
		.name = pprof_strings_get(locations->strings, field[PPROF_FUNCTION_NAME]),
		.system_name = pprof_strings_get(locations->strings,
						 field[PPROF_FUNCTION_SYSTEM_NAME]),
		.file = pprof_strings_get(locations->strings, field[PPROF_FUNCTION_FILENAME]),
		.start_line = line_number(field[PPROF_FUNCTION_START_LINE]),
	};
	if (!function.name)
		function.name = function.system_name;
	if (!function.system_name)
		function.system_name = function.name;
	GROW(locations->functions, locations->function_count, locations->function_room);
	locations->functions[locations->function_count++] =
		(struct pprof_locations_function){.of = function, .id = IDMAP_NONE};
	return NULL;
}

/* Functions without a name are not added to the profile. */
static struct error *pprof_locations_add_line(struct pprof_locations *locations, uint64_t id,
					      uint64_t line)
{
	uint32_t index = id_table_get(&locations->function_ids, id);
	struct pprof_locations_function *function;

	if (!id)
		return NULL;
	if (index == IDMAP_NONE)
		return error_new("a location refers to function %" PRIu64 ", which does not exist",
				 id);
	function = &locations->functions[index];
	if (!function->of.name)
		return NULL;
	if (function->id == IDMAP_NONE) {
		function->id = profile_function(locations->profile, &function->of);
		function->is_dropped =
			pprof_prunes(locations->prune) &&
			pprof_prune_matches(locations->prune,
					    profile_string(locations->profile, function->of.name));
	}
	if (locations->line_count == PPROF_LINES_MAX)
		return error_new("a location has more than %d lines", PPROF_LINES_MAX);
	GROW(locations->lines, locations->line_count, locations->line_room);
	locations->lines[locations->line_count++] =
		(struct profile_line){.function = function->id, .line = line_number(line)};
	if (function->is_dropped)
		locations->dropped_count = locations->line_count;
	return NULL;
}

static struct error *pprof_locations_read_line(struct pprof_locations *locations,
					       struct bytes message)
{
	uint64_t field[PPROF_LINE_FIELDS] = {0};

	if (!wire_scalars(message, field, PPROF_LINE_FIELDS))
		return pprof_damaged();
	return pprof_locations_add_line(locations, field[PPROF_LINE_FUNCTION],
					field[PPROF_LINE_LINE]);
}

/*
 * Recognizes "[libfoo.so+0x1a2b]", which writers use for an unknown name: the
 * address, or the start of its function. The name is then treated as unknown.
 * Returns false for any other name.
 */
static bool is_address_name(const char *name, uint64_t address, uint64_t *start)
{
	const char *tail = strrchr(name, '+');
	char *end;

	if (name[0] != '[' || !tail || !text_begins(tail, "+0x") ||
	    !isxdigit((unsigned char)tail[3]))
		return false;
	*start = strtoull(tail + 3, &end, 16);
	return !strcmp(end, "]") && *start <= address;
}

/* start: of its function, or the address if that is unknown. */
static frame_id add_address(struct pprof_locations *locations, struct pprof_place place,
			    uint64_t address, uint64_t start)
{
	frame_id frame = profile_frame(locations->profile, place.module, place.offset, false);

	if (start != address)
		profile_set_into_function(locations->profile, frame, address - start);
	return frame;
}

static bool is_note(const char *name)
{
	return name[0] == '[' && name[strlen(name) - 1] == ']';
}

static frame_id add_frame(struct pprof_locations *locations, uint64_t mapping_id, uint64_t address)
{
	struct pprof_place place = pprof_modules_place(locations->modules, mapping_id, address);
	uint64_t start = address;
	const char *name = "";

	if (locations->line_count == 1 && !locations->lines[0].line) {
		function_id function = locations->lines[0].function;

		name = profile_string(locations->profile,
				      profile_get_function(locations->profile, function)->name);
	}
	if (!locations->line_count || is_address_name(name, address, &start))
		return add_address(locations, place, address, start);
	if (place.module == PPROF_NO_MAPPING && !address && is_note(name))
		return profile_synthetic_frame(locations->profile, name);
	return profile_named_frame(locations->profile, place.module, place.offset, locations->lines,
				   locations->line_count);
}

static struct error *pprof_locations_read_lines(struct pprof_locations *locations,
						struct bytes location)
{
	struct wire_field field;

	locations->line_count = locations->dropped_count = 0;
	while (wire_next(&location, &field)) {
		struct error *err = NULL;

		if (field.number == PPROF_LOCATION_LINE)
			err = pprof_locations_read_line(locations, field.bytes);
		if (err)
			return err;
	}
	return NULL;
}

/*
 * Removes inlined functions that are dropped. If all are, the stacks lack the
 * location.
 */
static void prune_lines(struct pprof_locations *locations, uint64_t location)
{
	bool is_all = locations->dropped_count == locations->line_count;

	if (!locations->dropped_count)
		return;
	id_table_put(&locations->prune->locations, location,
		     is_all ? PPROF_PRUNED : PPROF_PRUNED_BELOW);
	if (is_all)
		return;
	locations->line_count -= locations->dropped_count;
	memmove(locations->lines, locations->lines + locations->dropped_count,
		locations->line_count * sizeof(*locations->lines));
}

struct error *pprof_locations_add(struct pprof_locations *locations, struct bytes message)
{
	uint64_t field[PPROF_LOCATION_FIELDS] = {0};
	struct error *err;

	if (!wire_scalars(message, field, PPROF_LOCATION_FIELDS))
		return pprof_damaged();
	err = pprof_locations_read_lines(locations, message);
	if (err)
		return err;
	prune_lines(locations, field[PPROF_LOCATION_ID]);
	if (!id_table_put(&locations->frames, field[PPROF_LOCATION_ID],
			  add_frame(locations, field[PPROF_LOCATION_MAPPING],
				    field[PPROF_LOCATION_ADDRESS])))
		return error_new("two locations have the id %" PRIu64, field[PPROF_LOCATION_ID]);
	return NULL;
}
