#include "format/pprof_read.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include "format/id_table.h"
#include "format/pprof_events.h"
#include "format/pprof_input.h"
#include "format/pprof_modules.h"
#include "format/pprof_origins.h"
#include "format/pprof_stacks.h"
#include "format/pprof_strings.h"
#include "format/wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of fields, and behind the last, how many there are. */
enum { TYPE_TYPE = 1, TYPE_UNIT, TYPE_FIELDS };
enum {
	MAPPING_ID = 1,
	MAPPING_START,
	MAPPING_LIMIT,
	MAPPING_OFFSET,
	MAPPING_FILENAME,
	MAPPING_BUILD_ID,
	MAPPING_FIELDS
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE, LOCATION_FIELDS };
enum { LINE_FUNCTION = 1, LINE_LINE, LINE_FIELDS };
enum {
	FUNCTION_ID = 1,
	FUNCTION_NAME,
	FUNCTION_SYSTEM_NAME,
	FUNCTION_FILENAME,
	FUNCTION_START_LINE,
	FUNCTION_FIELDS
};
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL = PPROF_SAMPLE_LABEL };
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING,
	PROFILE_DROP_FRAMES,
	PROFILE_KEEP_FRAMES,
	PROFILE_TIME,
	PROFILE_DURATION,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_COMMENT,
	PROFILE_DEFAULT_TYPE,
	PROFILE_DOC_URL,
	PROFILE_FIELDS
};

struct function {
	struct profile_function of;
	function_id id; /* IDMAP_NONE: not used so far */
};

/* The sample that is being read. */
struct sample {
	struct bytes locations; /* packed numbers */
	struct bytes labels;	/* what has all of them */
	struct wire_numbers values;
	unsigned char *list; /* of locations that stand in more than one field */
	size_t list_len, list_room;
};

struct reader {
	struct profile *profile;
	struct bytes message;
	struct bytes samples; /* the first of them up to the next field that is none */

	struct pprof_strings strings;
	uint64_t numbers[PROFILE_FIELDS]; /* single ones of the message, by field */
	struct pprof_events events;
	struct pprof_modules modules;
	struct pprof_origins origins;
	struct pprof_stacks stacks;
	struct wire_numbers comments;

	struct function *functions;
	uint32_t function_count, function_room;
	struct id_table function_ids;
	struct id_table frames; /* by location */

	struct profile_line *lines; /* of the location that is being read */
	uint32_t line_count, line_room;
	struct sample sample;
};

static void reader_deinit(struct reader *reader)
{
	pprof_strings_deinit(&reader->strings);
	pprof_events_deinit(&reader->events);
	pprof_modules_deinit(&reader->modules);
	pprof_stacks_deinit(&reader->stacks);
	free(reader->comments.items);
	free(reader->functions);
	id_table_deinit(&reader->function_ids);
	free(reader->lines);
	id_table_deinit(&reader->frames);
	free(reader->sample.values.items);
	free(reader->sample.list);
}

static const char *string(const struct reader *reader, string_id id)
{
	return profile_string(reader->profile, id);
}

static string_id text(struct reader *reader, uint64_t index)
{
	return pprof_strings_get(&reader->strings, index);
}

static MUST_CHECK struct error *damaged(void)
{
	return error_new("it is damaged, cut off, or no pprof profile");
}

static MUST_CHECK struct error *no_such_string(void)
{
	return error_new("it refers to a string that is not there");
}

static struct error *read_string(struct reader *reader, const struct wire_field *field)
{
	pprof_strings_add(&reader->strings, field->bytes);
	return NULL;
}

static struct error *decode_type(struct reader *reader, const struct wire_field *message,
				 struct pprof_type *ret)
{
	uint64_t field[TYPE_FIELDS] = {0};

	if (!wire_scalars(message->bytes, field, TYPE_FIELDS))
		return damaged();
	ret->name = text(reader, field[TYPE_TYPE]);
	ret->unit = text(reader, field[TYPE_UNIT]);
	return NULL;
}

static struct error *read_sample_type(struct reader *reader, const struct wire_field *message)
{
	struct pprof_events *events = &reader->events;

	GROW(events->types, events->count, events->room);
	return decode_type(reader, message, &events->types[events->count++]);
}

static struct error *read_period_type(struct reader *reader, const struct wire_field *message)
{
	return decode_type(reader, message, &reader->events.period_type);
}

static struct error *read_number(struct reader *reader, const struct wire_field *field)
{
	reader->numbers[field->number] = field->value;
	return NULL;
}

static struct error *read_comment(struct reader *reader, const struct wire_field *field)
{
	return wire_numbers_add(&reader->comments, field) ? NULL : damaged();
}

static struct error *read_mapping(struct reader *reader, const struct wire_field *message)
{
	uint64_t field[MAPPING_FIELDS] = {0};
	struct pprof_source mapping;

	if (!wire_scalars(message->bytes, field, MAPPING_FIELDS))
		return damaged();
	mapping = (struct pprof_source){
		.start = field[MAPPING_START],
		.limit = field[MAPPING_LIMIT],
		.offset = field[MAPPING_OFFSET],
		.path = text(reader, field[MAPPING_FILENAME]),
		.build_id = text(reader, field[MAPPING_BUILD_ID]),
	};
	if (!pprof_modules_add(&reader->modules, field[MAPPING_ID], &mapping))
		return error_new("two mappings have the id %" PRIu64, field[MAPPING_ID]);
	return NULL;
}

/* 0, unknown, for what is no line number. */
static uint32_t line_number(uint64_t value)
{
	return value <= INT32_MAX ? (uint32_t)value : 0;
}

static struct error *read_function(struct reader *reader, const struct wire_field *message)
{
	uint64_t field[FUNCTION_FIELDS] = {0};
	struct profile_function function;

	if (!wire_scalars(message->bytes, field, FUNCTION_FIELDS))
		return damaged();
	if (!id_table_put(&reader->function_ids, field[FUNCTION_ID], reader->function_count))
		return error_new("two functions have the id %" PRIu64, field[FUNCTION_ID]);
	function = (struct profile_function){
		.name = text(reader, field[FUNCTION_NAME]),
		.system_name = text(reader, field[FUNCTION_SYSTEM_NAME]),
		.file = text(reader, field[FUNCTION_FILENAME]),
		.start_line = line_number(field[FUNCTION_START_LINE]),
	};
	if (!function.name)
		function.name = function.system_name;
	GROW(reader->functions, reader->function_count, reader->function_room);
	reader->functions[reader->function_count++] = (struct function){.of = function,
									.id = IDMAP_NONE};
	return NULL;
}

/* Functions that no location has are not taken over, nor those without a name. */
static struct error *add_line(struct reader *reader, uint64_t id, uint64_t line)
{
	uint32_t index = id_table_get(&reader->function_ids, id);
	struct function *function;

	if (!id)
		return NULL;
	if (index == IDMAP_NONE)
		return error_new("a location is in function %" PRIu64 ", which is not there", id);
	function = &reader->functions[index];
	if (!function->of.name)
		return NULL;
	if (function->id == IDMAP_NONE)
		function->id = profile_function(reader->profile, &function->of);
	GROW(reader->lines, reader->line_count, reader->line_room);
	reader->lines[reader->line_count++] = (struct profile_line){.function = function->id,
								    .line = line_number(line)};
	return NULL;
}

static struct error *read_line(struct reader *reader, struct bytes message)
{
	uint64_t field[LINE_FIELDS] = {0};

	if (!wire_scalars(message, field, LINE_FIELDS))
		return damaged();
	return add_line(reader, field[LINE_FUNCTION], field[LINE_LINE]);
}

/* "[libfoo.so+0x1a2b]", as writers call what has no name: it has none here either. */
static bool is_address_name(const char *name, uint64_t address)
{
	char tail[32];
	int len = snprintf(tail, sizeof(tail), "+0x%" PRIx64 "]", address);
	size_t name_len = strlen(name);

	return name[0] == '[' && name_len > (size_t)len && !strcmp(name + name_len - len, tail);
}

static bool is_note(const char *name)
{
	return name[0] == '[' && name[strlen(name) - 1] == ']';
}

static frame_id add_frame(struct reader *reader, uint64_t mapping_id, uint64_t address)
{
	struct pprof_place place = pprof_modules_place(&reader->modules, mapping_id, address);
	const char *name = "";

	if (reader->line_count == 1 && !reader->lines[0].line) {
		function_id function = reader->lines[0].function;

		name = string(reader, profile_get_function(reader->profile, function)->name);
	}
	if (!reader->line_count || is_address_name(name, address))
		return profile_frame(reader->profile, place.module, place.offset, false);
	if (place.module == PPROF_NO_MAPPING && !address && is_note(name))
		return profile_note(reader->profile, name);
	return profile_named_frame(reader->profile, place.module, place.offset, reader->lines,
				   reader->line_count);
}

static struct error *read_lines(struct reader *reader, struct bytes location)
{
	struct wire_field field;

	reader->line_count = 0;
	while (wire_next(&location, &field)) {
		struct error *err = NULL;

		if (field.number == LOCATION_LINE)
			err = read_line(reader, field.bytes);
		if (err)
			return err;
	}
	return NULL;
}

static struct error *read_location(struct reader *reader, const struct wire_field *message)
{
	uint64_t field[LOCATION_FIELDS] = {0};
	struct error *err;

	if (!wire_scalars(message->bytes, field, LOCATION_FIELDS))
		return damaged();
	err = read_lines(reader, message->bytes);
	if (err)
		return err;
	if (!id_table_put(&reader->frames, field[LOCATION_ID],
			  add_frame(reader, field[LOCATION_MAPPING], field[LOCATION_ADDRESS])))
		return error_new("two locations have the id %" PRIu64, field[LOCATION_ID]);
	return NULL;
}

static void append_locations(struct sample *sample, struct bytes more)
{
	size_t len = sample->list_len + bytes_left(&more);

	if (sample->list_room < len) {
		sample->list_room = len * 2;
		sample->list = xreallocarray(sample->list, sample->list_room, 1);
	}
	memcpy(sample->list + sample->list_len, more.at, bytes_left(&more));
	sample->list_len = len;
}

/* Fields of packed numbers that follow each other are one list. False: a number is cut off. */
static bool add_locations(struct sample *sample, struct bytes more)
{
	if (!bytes_left(&more))
		return true;
	if (more.end[-1] & WIRE_GOES_ON)
		return false;
	if (!bytes_left(&sample->locations)) {
		sample->locations = more;
		return true;
	}
	if (!sample->list_len)
		append_locations(sample, sample->locations);
	append_locations(sample, more);
	sample->locations = bytes_of(sample->list, sample->list_len);
	return true;
}

/* All labels, and what else stands between them. */
static void add_label(struct sample *sample, const unsigned char *from, const unsigned char *end)
{
	if (!sample->labels.at)
		sample->labels.at = from;
	sample->labels.end = end;
}

static bool read_sample_fields(struct sample *sample, struct bytes message)
{
	struct bytes rest = message;
	struct wire_field field;

	sample->locations = sample->labels = (struct bytes){0};
	sample->values.count = sample->list_len = 0;
	while (wire_next(&rest, &field)) {
		if (field.number == SAMPLE_LOCATION && !add_locations(sample, field.bytes))
			return false;
		if (field.number == SAMPLE_VALUE && !wire_numbers_add(&sample->values, &field))
			return false;
		if (field.number == SAMPLE_LABEL)
			add_label(sample, message.at, rest.at);
		message.at = rest.at;
	}
	return bytes_ok(&rest);
}

static struct error *read_sample(struct reader *reader, const struct wire_field *message)
{
	struct sample *sample = &reader->sample;
	stack_id stack = STACK_EMPTY;
	thread_id thread;
	struct error *err;

	if (!read_sample_fields(sample, message->bytes) ||
	    !pprof_origins_find(&reader->origins, sample->labels, &thread))
		return damaged();
	err = pprof_stacks_find(&reader->stacks, sample->locations, &stack);
	if (err)
		return err;
	return pprof_events_add(&reader->events, reader->profile, thread, stack,
				sample->values.items, sample->values.count);
}

/* Fields stand in any order, often with the strings last: each is read when what it refers to has
 * been. */
enum pass { PASS_STRINGS, PASS_TABLES, PASS_LOCATIONS, PASS_SAMPLES };

static const struct {
	enum pass pass;
	enum wire_type type;
	struct error *(*read)(struct reader *reader, const struct wire_field *field);
} fields[PROFILE_FIELDS] = {
	[PROFILE_SAMPLE_TYPE] = {PASS_TABLES, WIRE_BYTES, read_sample_type},
	[PROFILE_SAMPLE] = {PASS_SAMPLES, WIRE_BYTES, read_sample},
	[PROFILE_MAPPING] = {PASS_TABLES, WIRE_BYTES, read_mapping},
	[PROFILE_LOCATION] = {PASS_LOCATIONS, WIRE_BYTES, read_location},
	[PROFILE_FUNCTION] = {PASS_TABLES, WIRE_BYTES, read_function},
	[PROFILE_STRING] = {PASS_STRINGS, WIRE_BYTES, read_string},
	[PROFILE_DROP_FRAMES] = {PASS_TABLES, WIRE_VARINT, read_number}, /* and no more of it */
	[PROFILE_KEEP_FRAMES] = {PASS_TABLES, WIRE_VARINT, read_number},
	[PROFILE_TIME] = {PASS_TABLES, WIRE_VARINT, read_number},
	[PROFILE_DURATION] = {PASS_TABLES, WIRE_VARINT, read_number},
	[PROFILE_PERIOD_TYPE] = {PASS_TABLES, WIRE_BYTES, read_period_type},
	[PROFILE_PERIOD] = {PASS_TABLES, WIRE_VARINT, read_number},
	[PROFILE_COMMENT] = {PASS_TABLES, WIRE_BYTES, read_comment},
	[PROFILE_DEFAULT_TYPE] = {PASS_TABLES, WIRE_VARINT, read_number},
	[PROFILE_DOC_URL] = {PASS_TABLES, WIRE_VARINT, read_number},
};

/* A field of another wire type than it should have is an unknown one; numbers may be packed. */
static bool is_known(const struct wire_field *field)
{
	if (field->number >= PROFILE_FIELDS || !fields[field->number].read)
		return false;
	return field->type == fields[field->number].type || field->number == PROFILE_COMMENT;
}

/* The samples that come next. Their lists are in one field nearly always, and the first one. */
static void look_ahead(struct reader *reader, struct bytes message)
{
	struct bytes lists[PPROF_STACKS_AHEAD];
	struct wire_field field, list;
	size_t count = 0;

	while (count < ARRAY_SIZE(lists) && wire_next(&message, &field) &&
	       field.number == PROFILE_SAMPLE)
		if (wire_next(&field.bytes, &list) && list.number == SAMPLE_LOCATION)
			lists[count++] = list.bytes;
	pprof_stacks_look_ahead(&reader->stacks, lists, count);
}

static struct error *read_pass(struct reader *reader, enum pass pass)
{
	struct bytes message = reader->message;
	struct wire_field field;
	uint32_t number = 0;

	while (bytes_left(&message)) {
		struct error *err = NULL;

		if (message.at == reader->samples.at && pass != PASS_SAMPLES)
			message.at = reader->samples.end;
		if (pass == PASS_SAMPLES && number++ % PPROF_STACKS_AHEAD == 0 &&
		    pprof_stacks_are_scattered(&reader->stacks))
			look_ahead(reader, message);
		if (!wire_next(&message, &field))
			break;
		if (is_known(&field) && fields[field.number].pass == pass)
			err = fields[field.number].read(reader, &field);
		if (err)
			return err;
		if (reader->strings.is_missing)
			return no_such_string();
	}
	return bytes_ok(&message) ? NULL : damaged();
}

/* How many fields of which number there are, and where nearly all samples stand in a row: most of
 * the file, which is to be gone through but once more. */
static struct error *survey(struct reader *reader, uint64_t counts[PROFILE_FIELDS])
{
	struct bytes message = reader->message, samples = {0};
	const unsigned char *at = message.at;
	struct wire_field field;

	while (wire_next(&message, &field)) {
		if (field.number < PROFILE_FIELDS)
			counts[field.number]++;
		if (field.number == PROFILE_SAMPLE) {
			if (samples.end != at)
				samples.at = at;
			samples.end = message.at;
			if (bytes_left(&samples) > bytes_left(&reader->samples))
				reader->samples = samples;
		}
		at = message.at;
	}
	return bytes_ok(&message) ? NULL : damaged();
}

static void make_id_tables(struct reader *reader, const uint64_t counts[PROFILE_FIELDS])
{
	pprof_modules_init(&reader->modules, reader->profile, counts[PROFILE_MAPPING]);
	id_table_init(&reader->frames, counts[PROFILE_LOCATION]);
	id_table_init(&reader->function_ids, counts[PROFILE_FUNCTION]);
}

/* What follows a title in a comment that prof has written; NULL of other comments. */
static const char *titled(const char *comment, const char *title)
{
	size_t len = strlen(title);

	return strncmp(comment, title, len) ? NULL : comment + len;
}

/* The comment after those with a title is prof's line about the quality. */
static void add_comment(struct profile_info *info, const char *comment, FILE *remarks)
{
	const char *rest;

	if (!info->command && (rest = titled(comment, "command: ")))
		info->command = rest;
	else if (!info->host && (rest = titled(comment, "host: ")))
		info->host = rest;
	else if (!info->kernel && (rest = titled(comment, "kernel: ")))
		info->kernel = rest;
	else if (!strcmp(comment, PPROF_RUN))
		info->is_run = true;
	else if (!info->quality && info->command)
		info->quality = comment;
	else if (*comment)
		fprintf(remarks, "%s\n", comment);
}

static void add_info(struct reader *reader)
{
	struct profile_info info = {
		.start_unix_ns = reader->numbers[PROFILE_TIME],
		.duration_ns = reader->numbers[PROFILE_DURATION],
	};
	CLEANUP(free_ptr) char *remarks = NULL;
	size_t len;
	FILE *out = open_memstream(&remarks, &len);

	for (size_t i = 0; i < reader->comments.count; i++)
		add_comment(&info, string(reader, text(reader, reader->comments.items[i])), out);
	fclose(out);
	info.remarks = remarks;
	profile_set_info(reader->profile, &info);
}

static struct error *add_events(struct reader *reader)
{
	reader->events.period = reader->numbers[PROFILE_PERIOD];
	reader->events.default_type = text(reader, reader->numbers[PROFILE_DEFAULT_TYPE]);
	return pprof_events_define(&reader->events, reader->profile);
}

static struct error *read_tables(struct reader *reader)
{
	struct error *err = read_pass(reader, PASS_STRINGS);

	if (!err)
		err = read_pass(reader, PASS_TABLES);
	if (!err)
		err = add_events(reader);
	if (err)
		return err;
	pprof_modules_define(&reader->modules);
	add_info(reader);
	return reader->strings.is_missing ? no_such_string() : read_pass(reader, PASS_LOCATIONS);
}

static struct error *read_message(struct reader *reader)
{
	uint64_t counts[PROFILE_FIELDS] = {0};
	struct error *err = survey(reader, counts);

	if (err)
		return err;
	make_id_tables(reader, counts);
	err = read_tables(reader);
	return err ? err : read_pass(reader, PASS_SAMPLES);
}

struct error *pprof_read(FILE *in, struct profile *profile)
{
	CLEANUP(reader_deinit)
	struct reader reader = {.profile = profile, .strings = {.profile = profile}};
	CLEANUP(free_ptr) char *data = NULL;
	size_t len;
	struct error *err = pprof_input(in, &data, &len);

	if (!err) {
		reader.message = bytes_of(data, len);
		pprof_origins_init(&reader.origins, &reader.strings);
		pprof_stacks_init(&reader.stacks, profile, &reader.frames);
		err = read_message(&reader);
	}
	return error_wrap(err, "read the pprof profile");
}

/* A plain message has no mark; but text it is not, and all its fields are known. */
static bool may_be_message(struct bytes first)
{
	struct wire_field field = {0};

	if (utf8_is_text(first))
		return false;
	while (wire_next(&first, &field))
		if (!is_known(&field))
			return false;
	return is_known(&field);
}

bool pprof_recognize(const unsigned char *first, size_t len)
{
	if (len >= 2 && first[0] == 0x1f && first[1] == 0x8b)
		return true;
	return may_be_message(bytes_of(first, len));
}
