#include "format/pprof/read.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/utf8.h"
#include "format/pprof/batches.h"
#include "format/pprof/events.h"
#include "format/pprof/fields.h"
#include "format/pprof/input.h"
#include "format/pprof/labels.h"
#include "format/pprof/limits.h"
#include "format/pprof/locations.h"
#include "format/pprof/modules.h"
#include "format/pprof/prune.h"
#include "format/pprof/stacks.h"
#include "format/pprof/strings.h"
#include "format/pprof/wire.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The current sample. */
struct sample {
	struct bytes locations; /* packed numbers */
	struct bytes labels;	/* the part of the message that contains all labels */
	struct bytes times;	/* packed numbers */
	struct wire_numbers values;
	unsigned char *list; /* the concatenated locations, if they are in several fields */
	size_t list_len, list_room;
};

struct pprof_read_reader {
	struct profile *profile;
	const struct pprof_sum *sum; /* NULL if the profile was empty */
	struct bytes message;
	struct bytes samples; /* the longest run of consecutive samples */
	size_t memory_max;    /* of the profile and all tables below */

	struct pprof_strings strings;
	uint64_t numbers[PPROF_PROFILE_FIELDS]; /* scalar fields of the message, by field */
	struct pprof_events events;
	struct pprof_modules modules;
	struct pprof_labels labels;
	struct pprof_stacks stacks;
	struct pprof_batches *batches; /* NULL if no parallel lookup has been made */
	struct wire_numbers comments;
	struct event_quality *qualities; /* parsed from the comments */
	uint32_t quality_count, quality_room;

	struct pprof_locations locations;
	struct pprof_prune prune;
	/* reason; NULL if the profile is pruned or has nothing to prune. */
	const char *not_pruned;
	struct sample sample;
};

static void pprof_read_reader_deinit(struct pprof_read_reader *reader)
{
	pprof_strings_deinit(&reader->strings);
	pprof_events_deinit(&reader->events);
	pprof_modules_deinit(&reader->modules);
	pprof_labels_deinit(&reader->labels);
	pprof_stacks_deinit(&reader->stacks);
	free(reader->comments.items);
	free(reader->qualities);
	pprof_locations_deinit(&reader->locations);
	pprof_prune_deinit(&reader->prune);
	free(reader->sample.values.items);
	free(reader->sample.list);
}

static const char *string(const struct pprof_read_reader *reader, string_id id)
{
	return profile_string(reader->profile, id);
}

static string_id pprof_read_text(struct pprof_read_reader *reader, uint64_t index)
{
	return pprof_strings_get(&reader->strings, index);
}

static MUST_CHECK struct error *no_such_string(void)
{
	return error_new("it refers to a string that does not exist");
}

static size_t memory_bytes(const struct pprof_read_reader *reader)
{
	return profile_memory_bytes(reader->profile) +
	       profile_timed_samples(reader->profile).count * sizeof(struct profile_timed_sample) +
	       reader->strings.count * sizeof(*reader->strings.items) +
	       pprof_modules_memory_bytes(&reader->modules) +
	       pprof_locations_memory_bytes(&reader->locations) +
	       id_table_memory_bytes(&reader->prune.locations);
}

static struct error *too_large(const struct pprof_read_reader *reader)
{
	return error_new("it needs more than %zu MB of memory, too much for a file of its size",
			 reader->memory_max >> 20);
}

static struct error *read_string(struct pprof_read_reader *reader, const struct wire_field *field)
{
	pprof_strings_add(&reader->strings, field->bytes);
	return NULL;
}

static struct error *decode_type(struct pprof_read_reader *reader, const struct wire_field *message,
				 struct pprof_type *ret)
{
	uint64_t field[PPROF_TYPE_FIELDS] = {0};

	if (!wire_scalars(message->bytes, field, PPROF_TYPE_FIELDS))
		return pprof_damaged();
	ret->name = pprof_read_text(reader, field[PPROF_TYPE_TYPE]);
	ret->unit = pprof_read_text(reader, field[PPROF_TYPE_UNIT]);
	return NULL;
}

static struct error *read_sample_type(struct pprof_read_reader *reader,
				      const struct wire_field *message)
{
	struct pprof_events *events = &reader->events;

	if (events->count == PPROF_TYPES_MAX)
		return error_new("it has more than %d sample types", PPROF_TYPES_MAX);
	GROW(events->types, events->count, events->room);
	return decode_type(reader, message, &events->types[events->count++]);
}

static struct error *read_period_type(struct pprof_read_reader *reader,
				      const struct wire_field *message)
{
	return decode_type(reader, message, &reader->events.period_type);
}

static struct error *pprof_read_number(struct pprof_read_reader *reader,
				       const struct wire_field *field)
{
	reader->numbers[field->number] = field->value;
	return NULL;
}

static struct error *pprof_read_comment(struct pprof_read_reader *reader,
					const struct wire_field *field)
{
	return wire_numbers_add(&reader->comments, field, PPROF_COMMENTS_MAX) ? NULL
									      : pprof_damaged();
}

static struct error *read_mapping(struct pprof_read_reader *reader,
				  const struct wire_field *message)
{
	uint64_t field[PPROF_MAPPING_FIELDS] = {0};
	struct pprof_source mapping;

	if (!wire_scalars(message->bytes, field, PPROF_MAPPING_FIELDS))
		return pprof_damaged();
	mapping = (struct pprof_source){
		.start = field[PPROF_MAPPING_START],
		.limit = field[PPROF_MAPPING_LIMIT],
		.offset = field[PPROF_MAPPING_OFFSET],
		.path = pprof_read_text(reader, field[PPROF_MAPPING_FILENAME]),
		.build_id = pprof_read_text(reader, field[PPROF_MAPPING_BUILD_ID]),
	};
	if (!pprof_modules_add(&reader->modules, field[PPROF_MAPPING_ID], &mapping))
		return error_new("two mappings have the id %" PRIu64, field[PPROF_MAPPING_ID]);
	return NULL;
}

static struct error *read_function(struct pprof_read_reader *reader,
				   const struct wire_field *message)
{
	return pprof_locations_add_function(&reader->locations, message->bytes);
}

static struct error *read_location(struct pprof_read_reader *reader,
				   const struct wire_field *message)
{
	return pprof_locations_add(&reader->locations, message->bytes);
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

/*
 * Concatenates the location fields of a sample. Returns false if the last
 * number is truncated.
 */
static bool pprof_read_add_locations(struct sample *sample, struct bytes more)
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

/*
 * Extends the range that contains all labels, including other fields between
 * them.
 */
static void pprof_read_add_label(struct sample *sample, const unsigned char *from,
				 const unsigned char *end)
{
	if (!sample->labels.at)
		sample->labels.at = from;
	sample->labels.end = end;
}

static bool read_sample_fields(struct sample *sample, struct bytes message)
{
	struct bytes rest = message;
	struct wire_field field;

	sample->locations = sample->labels = sample->times = (struct bytes){0};
	sample->values.count = sample->list_len = 0;
	while (wire_next(&rest, &field)) {
		if (field.number == PPROF_SAMPLE_LOCATION &&
		    !pprof_read_add_locations(sample, field.bytes))
			return false;
		if (field.number == PPROF_SAMPLE_VALUE &&
		    !wire_numbers_add(&sample->values, &field, PPROF_TYPES_MAX))
			return false;
		if (field.number == PPROF_SAMPLE_LABEL)
			pprof_read_add_label(sample, message.at, rest.at);
		if (field.number == PPROF_SAMPLE_TIMES)
			sample->times = field.bytes;
		message.at = rest.at;
	}
	return bytes_ok(&rest);
}

/*
 * Adds the times of the main event, whose samples are counted. Their clock is
 * real time.
 */
static bool pprof_read_add_times(struct pprof_read_reader *reader, label_set_id labels,
				 stack_id stack)
{
	struct profile *profile = reader->profile;
	struct profile_timed_sample timed = {.time_ns = reader->numbers[PPROF_PROFILE_TIME]};
	struct bytes times = reader->sample.times;

	timed.sample = profile_add_samples(profile, labels, stack, reader->events.main, 0, 0);
	profile_keep_timestamps(profile);
	while (bytes_left(&times)) {
		uint64_t ms = bytes_uleb(&times);

		if (ms > PPROF_TIME_MS_MAX || memory_bytes(reader) > reader->memory_max)
			return false;
		timed.time_ns += ms * NS_PER_MS;
		profile_add_timed_sample(profile, &timed);
	}
	return bytes_ok(&times);
}

static bool wants_times(const struct pprof_read_reader *reader)
{
	return !reader->sum || profile_keeps_timestamps(reader->profile);
}

static struct error *read_sample(struct pprof_read_reader *reader, const struct wire_field *message)
{
	struct sample *sample = &reader->sample;
	stack_id stack = STACK_EMPTY;
	label_set_id labels;
	struct error *err;

	if (!read_sample_fields(sample, message->bytes) ||
	    !pprof_labels_find(&reader->labels, sample->labels, &labels))
		return pprof_damaged();
	if (pprof_prunes(&reader->prune))
		pprof_prune_stack(&reader->prune, &sample->locations);
	err = pprof_stacks_find(&reader->stacks, sample->locations, &stack);
	if (err)
		return err;
	err = pprof_events_add(&reader->events, reader->profile, labels, stack,
			       sample->values.items, sample->values.count);
	if (!err && bytes_left(&sample->times) && wants_times(reader) &&
	    (!profile_event_count(reader->profile) || !pprof_read_add_times(reader, labels, stack)))
		err = pprof_damaged();
	return err;
}

/*
 * Fields can be in any order, often with the strings last. Each is read in a
 * pass after the passes of the fields that it refers to.
 */
enum pprof_read_pass { PASS_STRINGS, PASS_TABLES, PASS_LOCATIONS, PASS_SAMPLES };

static const struct {
	enum pprof_read_pass pass;
	enum wire_type type;
	struct error *(*read)(struct pprof_read_reader *reader, const struct wire_field *field);
} pprof_read_fields[PPROF_PROFILE_FIELDS] = {
	[PPROF_PROFILE_SAMPLE_TYPE] = {PASS_TABLES, WIRE_BYTES, read_sample_type},
	[PPROF_PROFILE_SAMPLE] = {PASS_SAMPLES, WIRE_BYTES, read_sample},
	[PPROF_PROFILE_MAPPING] = {PASS_TABLES, WIRE_BYTES, read_mapping},
	[PPROF_PROFILE_LOCATION] = {PASS_LOCATIONS, WIRE_BYTES, read_location},
	[PPROF_PROFILE_FUNCTION] = {PASS_TABLES, WIRE_BYTES, read_function},
	[PPROF_PROFILE_STRING] = {PASS_STRINGS, WIRE_BYTES, read_string},
	[PPROF_PROFILE_DROP_FRAMES] = {PASS_TABLES, WIRE_VARINT, pprof_read_number},
	[PPROF_PROFILE_KEEP_FRAMES] = {PASS_TABLES, WIRE_VARINT, pprof_read_number},
	[PPROF_PROFILE_TIME] = {PASS_TABLES, WIRE_VARINT, pprof_read_number},
	[PPROF_PROFILE_DURATION] = {PASS_TABLES, WIRE_VARINT, pprof_read_number},
	[PPROF_PROFILE_PERIOD_TYPE] = {PASS_TABLES, WIRE_BYTES, read_period_type},
	[PPROF_PROFILE_PERIOD] = {PASS_TABLES, WIRE_VARINT, pprof_read_number},
	[PPROF_PROFILE_COMMENT] = {PASS_TABLES, WIRE_BYTES, pprof_read_comment},
	[PPROF_PROFILE_DEFAULT_TYPE] = {PASS_TABLES, WIRE_VARINT, pprof_read_number},
	[PPROF_PROFILE_DOC_URL] = {PASS_TABLES, WIRE_VARINT, pprof_read_number},
};

/*
 * A field with an unexpected wire type counts as unknown. Comments may be
 * packed or not.
 */
static bool pprof_read_is_known(const struct wire_field *field)
{
	if (field->number >= PPROF_PROFILE_FIELDS || !pprof_read_fields[field->number].read)
		return false;
	return field->type == pprof_read_fields[field->number].type ||
	       field->number == PPROF_PROFILE_COMMENT;
}

static void look_ahead(struct pprof_read_reader *reader, struct bytes rest)
{
	if (!reader->batches)
		reader->batches = pprof_batches_new(&reader->locations.frames);
	pprof_stacks_look_ahead(&reader->stacks, pprof_batches_at(reader->batches, rest));
}

/* One field adds a few MB at most: a stack of PPROF_DEPTH_MAX frames. */
enum { FIELDS_PER_CHECK = 8 };

static struct error *read_pass(struct pprof_read_reader *reader, enum pprof_read_pass pass)
{
	struct bytes message = reader->message;
	struct wire_field field;
	uint32_t number = 0, known = 0;

	while (bytes_left(&message)) {
		struct error *err = NULL;

		if (message.at == reader->samples.at && pass != PASS_SAMPLES)
			message.at = reader->samples.end;
		if (pass == PASS_SAMPLES && number++ % PPROF_BATCH == 0 &&
		    !pprof_prunes(&reader->prune) && pprof_stacks_are_scattered(&reader->stacks))
			look_ahead(reader, message);
		if (!wire_next(&message, &field))
			break;
		if (pprof_read_is_known(&field) && pprof_read_fields[field.number].pass == pass) {
			err = pprof_read_fields[field.number].read(reader, &field);
			if (!err && known++ % FIELDS_PER_CHECK == 0 &&
			    memory_bytes(reader) > reader->memory_max)
				err = too_large(reader);
		}
		if (err)
			return err;
		if (reader->strings.is_missing)
			return no_such_string();
	}
	return bytes_ok(&message) ? NULL : pprof_damaged();
}

/*
 * Records which types have negative values, as in a difference of two profiles.
 */
static void note_negative(struct pprof_read_reader *reader, struct bytes sample)
{
	struct wire_field field;

	reader->sample.values.count = 0;
	while (wire_next(&sample, &field))
		if (field.number == PPROF_SAMPLE_VALUE &&
		    !wire_numbers_add(&reader->sample.values, &field, PPROF_TYPES_MAX))
			return;
	for (size_t i = 0; i < reader->sample.values.count; i++)
		if (reader->sample.values.items[i] > INT64_MAX)
			reader->events.are_negative[i] = true;
}

/*
 * Counts the fields by number and finds the longest run of samples, which the
 * first passes can skip because it is nearly the whole file.
 */
static struct error *survey(struct pprof_read_reader *reader, uint64_t counts[PPROF_PROFILE_FIELDS])
{
	struct bytes message = reader->message, samples = {0};
	const unsigned char *at = message.at;
	struct wire_field field;

	while (wire_next(&message, &field)) {
		if (field.number < PPROF_PROFILE_FIELDS)
			counts[field.number]++;
		if (field.number == PPROF_PROFILE_SAMPLE) {
			if (!reader->sum)
				note_negative(reader, field.bytes);
			if (samples.end != at)
				samples.at = at;
			samples.end = message.at;
			if (bytes_left(&samples) > bytes_left(&reader->samples))
				reader->samples = samples;
		}
		at = message.at;
	}
	return bytes_ok(&message) ? NULL : pprof_damaged();
}

static struct error *make_id_tables(struct pprof_read_reader *reader,
				    const uint64_t counts[PPROF_PROFILE_FIELDS])
{
	uint64_t ids = counts[PPROF_PROFILE_MAPPING] + 2 * counts[PPROF_PROFILE_LOCATION] +
		       counts[PPROF_PROFILE_FUNCTION];

	if (ids * sizeof(uint32_t) > reader->memory_max)
		return too_large(reader);
	pprof_modules_init(&reader->modules, reader->profile,
			   reader->sum ? reader->sum->modules : NULL,
			   counts[PPROF_PROFILE_MAPPING]);
	pprof_locations_init(&reader->locations, &reader->strings, &reader->modules, &reader->prune,
			     counts[PPROF_PROFILE_FUNCTION], counts[PPROF_PROFILE_LOCATION]);
	return NULL;
}

/*
 * Returns the text after the title in a comment written by prof, or NULL for
 * other comments.
 */
static const char *titled(const char *comment, const char *title)
{
	return text_begins(comment, title) ? comment + strlen(title) : NULL;
}

static bool add_event_quality(struct pprof_read_reader *reader, const char *comment)
{
	struct event_quality quality;

	if (!quality_decode_event(comment, &quality))
		return false;
	GROW(reader->qualities, reader->quality_count, reader->quality_room);
	reader->qualities[reader->quality_count++] = quality;
	return true;
}

/*
 * The first comment of this form is the quality of the profile. The others are
 * those of its events.
 */
static bool take_quality(struct pprof_read_reader *reader, struct profile_quality *quality,
			 const char *comment)
{
	if (!quality->waiting.threads && quality_decode_waiting(comment, &quality->waiting))
		return true;
	if (stat_counts_decode(comment, &quality->stat))
		return true;
	return quality->is_known ? add_event_quality(reader, comment)
				 : quality_decode(comment, quality);
}

static void set_owners(struct pprof_read_reader *reader, const char *owners)
{
	while (isdigit((unsigned char)*owners)) {
		char *at;
		uint64_t id = strtoull(owners, &at, 10);

		if (*at == '=')
			pprof_modules_set_source_user(&reader->modules, id,
						      (uid_t)strtoul(at + 1, &at, 10));
		owners = at + (*at == ' ');
	}
}

static void set_polls(struct pprof_read_reader *reader, const char *text)
{
	char *name;
	uint64_t polls = strtoull(text, &name, 10);

	if (*name == ' ')
		profile_add_polls(reader->profile, name + 1, polls);
}

static void add_comment(struct pprof_read_reader *reader, struct profile_info *info,
			const char *comment, FILE *remarks)
{
	const char *rest;

	if (!info->title && (rest = titled(comment, PPROF_TITLE)))
		info->title = rest;
	else if (!info->command && (rest = titled(comment, "command: ")))
		info->command = rest;
	else if (!info->host && (rest = titled(comment, "host: ")))
		info->host = rest;
	else if (!info->kernel && (rest = titled(comment, "kernel: ")))
		info->kernel = rest;
	else if (!strcmp(comment, PPROF_RUN))
		info->is_run = true;
	else if ((rest = titled(comment, PPROF_OWNERS)))
		set_owners(reader, rest);
	else if ((rest = titled(comment, PPROF_POLLS)))
		set_polls(reader, rest);
	else if (!take_quality(reader, &info->quality, comment) && *comment &&
		 (size_t)ftello(remarks) + strlen(comment) < PPROF_REMARKS_BYTES_MAX)
		fprintf(remarks, "%s\n", comment);
}

static void pprof_read_set_info(struct profile *profile, struct profile_info *info)
{
	if (profile_keeps_timestamps(profile)) {
		info->start_ns = info->start_unix_ns;
		profile_sort_timed_samples(profile);
	}
	profile_set_info(profile, info);
}

/* The caller frees the result. */
static char *pprof_read_problems_of(const struct pprof_read_reader *reader)
{
	const struct pprof_events *events = &reader->events;
	const char *comma = "";
	char *problems = NULL;
	size_t len;
	FILE *out = open_memstream(&problems, &len);

	for (size_t i = 0; i < events->count; i++) {
		if (!events->are_negative[i])
			continue;
		fprintf(out, "%s%s", *comma ? comma : "omitted ",
			string(reader, events->types[i].name));
		comma = ", ";
	}
	if (*comma)
		fputs(": a difference of two profiles, with negative values\n", out);
	if (reader->not_pruned)
		fprintf(out, "did not apply drop_frames: the expressions have %s\n",
			reader->not_pruned);
	if (reader->prune.is_late)
		fputs("did not apply drop_frames to all functions: it takes too long\n", out);
	fclose(out);
	return problems;
}

static void pprof_read_add_info(struct pprof_read_reader *reader)
{
	struct profile_info info = {
		.start_unix_ns = reader->numbers[PPROF_PROFILE_TIME],
		.duration_ns = reader->numbers[PPROF_PROFILE_DURATION],
	};
	CLEANUP(free_ptr) char *remarks = NULL, *problems = pprof_read_problems_of(reader);
	size_t len;
	FILE *out = open_memstream(&remarks, &len);

	for (size_t i = 0; i < reader->comments.count; i++)
		add_comment(reader, &info,
			    string(reader, pprof_read_text(reader, reader->comments.items[i])),
			    out);
	if (reader->stacks.cut_count)
		fprintf(out,
			"dropped the outer callers of %" PRIu64 " stacks of more than %d frames\n",
			reader->stacks.cut_count, PPROF_DEPTH_MAX);
	fclose(out);
	info.remarks = remarks;
	info.problems = problems;
	info.quality.events = reader->qualities;
	info.quality.event_count = reader->quality_count;
	if (reader->sum)
		reader->sum->add_info(reader->sum->user, &info);
	else
		pprof_read_set_info(reader->profile, &info);
}

static struct error *pprof_read_add_events(struct pprof_read_reader *reader)
{
	reader->events.period = reader->numbers[PPROF_PROFILE_PERIOD];
	reader->events.default_type = pprof_read_text(reader,
						      reader->numbers[PPROF_PROFILE_DEFAULT_TYPE]);
	return pprof_events_define(&reader->events, reader->profile);
}

static void prepare_pruning(struct pprof_read_reader *reader)
{
	const uint64_t *numbers = reader->numbers;

	reader->not_pruned = pprof_prune_init(
		&reader->prune,
		string(reader, pprof_read_text(reader, numbers[PPROF_PROFILE_DROP_FRAMES])),
		string(reader, pprof_read_text(reader, numbers[PPROF_PROFILE_KEEP_FRAMES])),
		reader->locations.frames.dense_count);
}

static struct error *pprof_read_tables(struct pprof_read_reader *reader)
{
	struct error *err = read_pass(reader, PASS_STRINGS);

	if (!err)
		err = read_pass(reader, PASS_TABLES);
	if (!err)
		err = pprof_read_add_events(reader);
	if (err)
		return err;
	prepare_pruning(reader);
	pprof_modules_define(&reader->modules);
	return read_pass(reader, PASS_LOCATIONS);
}

static struct error *read_message(struct pprof_read_reader *reader)
{
	uint64_t counts[PPROF_PROFILE_FIELDS] = {0};
	struct error *err = survey(reader, counts);

	if (!err)
		err = make_id_tables(reader, counts);
	if (!err)
		err = pprof_read_tables(reader);
	if (!err)
		err = read_pass(reader, PASS_SAMPLES);
	/* Its thread still reads the message. */
	pprof_batches_free(STEAL(reader->batches));
	if (err)
		return err;
	pprof_read_add_info(reader);
	return reader->strings.is_missing ? no_such_string() : NULL;
}

static struct error *pprof_read_file(FILE *in, struct profile *profile, const struct pprof_sum *sum)
{
	CLEANUP(pprof_read_reader_deinit)
	struct pprof_read_reader reader = {
		.profile = profile, .sum = sum, .strings = {.profile = profile}};
	struct pprof_input input = {0};
	struct error *err = pprof_input(in, &input);

	if (!err) {
		reader.message = bytes_of(input.data, input.len);
		reader.memory_max = memory_bytes(&reader) + PPROF_MEMORY_BYTES +
				    input.file_bytes * PPROF_MEMORY_BYTES_PER_BYTE;
		pprof_labels_init(&reader.labels, &reader.strings);
		pprof_stacks_init(&reader.stacks, profile, &reader.locations.frames);
		err = read_message(&reader);
	}
	free(input.data);
	return error_wrap(err, "read the pprof profile");
}

struct error *pprof_read(FILE *in, struct profile *profile)
{
	return pprof_read_file(in, profile, NULL);
}

struct error *pprof_add(FILE *in, const struct pprof_sum *sum)
{
	return pprof_read_file(in, sum->profile, sum);
}

/*
 * An uncompressed message has no magic number. It is recognized because it is
 * not text and has only known fields.
 */
static bool may_be_message(struct bytes first)
{
	struct wire_field field = {0};

	if (utf8_is_text(first))
		return false;
	while (wire_next(&first, &field))
		if (!pprof_read_is_known(&field) && field.number != PPROF_PROFILE_SEGMENTS)
			return false;
	return pprof_read_is_known(&field) || field.number == PPROF_PROFILE_SEGMENTS;
}

bool pprof_recognize(const unsigned char *first, size_t len)
{
	if (len >= 2 && first[0] == 0x1f && first[1] == 0x8b)
		return true;
	return may_be_message(bytes_of(first, len));
}
