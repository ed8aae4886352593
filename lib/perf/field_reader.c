#include "perf/field_reader.h"

#include "base/alloc.h"
#include "base/idmap.h"
#include "base/strtab.h"
#include "perf/field_names.h"

#include <stdlib.h>
#include <string.h>

enum { SECTOR_BYTES = 512, FIELD_TEXT_MAX = 256 };

/* Maximum number of cached names, one per value. Further values remain
 * numbers. */
enum { NAMED_VALUES_MAX = 16 << 10 };

/* A tracepoint and its wanted fields. */
struct field_reader_member {
	char *name;
	struct tracepoint_format format;
	const struct tracepoint_field *weight; /* may be NULL */
	const struct tracepoint_field *labels[FIELD_LABELS_MAX];
	struct field_names names[FIELD_LABELS_MAX]; /* value names of the labels */
};

struct field_reader {
	struct field_reader_member *members;
	size_t count, room;
	/* Maps the id of a tracepoint to an index into members. */
	struct idmap by_id;
	char *weight; /* name of the weight field, or NULL */
	char *labels[FIELD_LABELS_MAX];
	size_t label_count;
	bool labels_event;
	/* Fields of the last sample. Strings are copied, because the file that
	 * contains them may change. */
	struct record_field fields[FIELD_LABELS_MAX + 1];
	char texts[FIELD_LABELS_MAX][FIELD_TEXT_MAX];
	/* Maps (value, member and label) to an index into names. */
	struct idmap named;
	struct strtab *names; /* "" stands for a value without a name */
};

struct field_reader *field_reader_new(void)
{
	struct field_reader *reader = xcalloc(1, sizeof(*reader));

	reader->names = strtab_new();
	return reader;
}

void field_reader_free(struct field_reader *reader)
{
	if (!reader)
		return;
	for (size_t i = 0; i < reader->count; i++) {
		free(reader->members[i].name);
		tracepoint_format_deinit(&reader->members[i].format);
	}
	for (size_t i = 0; i < reader->label_count; i++)
		free(reader->labels[i]);
	free(reader->members);
	idmap_deinit(&reader->by_id);
	idmap_deinit(&reader->named);
	strtab_free(reader->names);
	free(reader->weight);
	free(reader);
}

void field_reader_add(struct field_reader *reader, const char *tracepoint,
		      struct tracepoint_format *format)
{
	*idmap_put(&reader->by_id, format->id, 0) = (uint32_t)reader->count;
	GROW(reader->members, reader->count, reader->room);
	reader->members[reader->count++] = (struct field_reader_member){.name = xstrdup(tracepoint),
									.format = *format};
	*format = (struct tracepoint_format){0};
}

void field_reader_label_event(struct field_reader *reader)
{
	reader->labels_event = true;
}

size_t field_reader_count(const struct field_reader *reader)
{
	return reader->count;
}

const char *field_reader_name(const struct field_reader *reader, size_t index)
{
	return reader->members[index].name;
}

const struct tracepoint_format *field_reader_format(const struct field_reader *reader, size_t index)
{
	return &reader->members[index].format;
}

static const struct field_reader_member *field_reader_find_member(const struct field_reader *reader,
								  uint64_t id)
{
	uint32_t index = idmap_get(&reader->by_id, id, 0);

	return index == IDMAP_NONE ? NULL : &reader->members[index];
}

bool field_reader_weighs(const struct field_reader *reader, uint64_t id)
{
	const struct field_reader_member *member = field_reader_find_member(reader, id);

	return member && member->weight;
}

static struct error *no_such_field(const struct field_reader *reader, const char *field)
{
	CLEANUP(free_ptr) char *names = tracepoint_format_names(&reader->members[0].format);

	if (reader->count > 1)
		return error_new("none of its %zu tracepoints has a field %s", reader->count,
				 field);
	return error_hint(error_new("%s has no field %s", reader->members[0].name, field),
			  "its fields are %s", names);
}

struct error *field_reader_set_weight(struct field_reader *reader, const char *name)
{
	size_t found = 0;

	for (size_t i = 0; i < reader->count; i++) {
		const struct tracepoint_field *field =
			tracepoint_format_find(&reader->members[i].format, name);

		if (field && (field->kind != FIELD_NUMBER || field->is_pointer))
			return error_new("the field %s of %s is not a number", name,
					 reader->members[i].name);
		reader->members[i].weight = field;
		found += field != NULL;
	}
	if (!found)
		return no_such_field(reader, name);
	free(reader->weight);
	reader->weight = xstrdup(name);
	return NULL;
}

struct error *field_reader_add_label(struct field_reader *reader, const char *name)
{
	size_t found = 0;

	if (reader->label_count == FIELD_LABELS_MAX)
		return error_new("more than %d labels", FIELD_LABELS_MAX);
	for (size_t i = 0; i < reader->count; i++) {
		const struct tracepoint_field *field =
			tracepoint_format_find(&reader->members[i].format, name);

		if (field && field->kind == FIELD_BYTES)
			return error_new("the field %s of %s is an array, not a value", name,
					 reader->members[i].name);
		if (!field)
			continue;
		reader->members[i].labels[reader->label_count] = field;
		reader->members[i].names[reader->label_count] =
			field_names_of(&reader->members[i].format, field);
		found++;
	}
	if (!found)
		return no_such_field(reader, name);
	reader->labels[reader->label_count++] = xstrdup(name);
	return NULL;
}

struct error *field_reader_add_labels(struct field_reader *reader, const char *fields)
{
	CLEANUP(free_ptr) char *words = xstrdup(fields);
	struct error *err = NULL;

	for (char *rest = words, *word; !err && (word = strsep(&rest, "+"));)
		err = field_reader_add_label(reader, word);
	return err;
}

bool field_reader_has_weight(const struct field_reader *reader)
{
	return reader->weight;
}

static bool counts_sectors(const char *field)
{
	return !strcmp(field, "nr_sector") || !strcmp(field, "nr_sectors");
}

/* Matches "bytes", "nr_bytes", "bytes_req", "count", "size", "len",
 * "length". */
static bool counts_bytes(const char *field)
{
	static const char *const words[] = {"bytes", "count", "size", "len", "length"};

	while (*field) {
		size_t len = strcspn(field, "_");

		for (size_t i = 0; i < ARRAY_SIZE(words); i++)
			if (strlen(words[i]) == len && !strncmp(field, words[i], len))
				return true;
		field += len + (field[len] == '_');
	}
	return false;
}

enum value_kind field_reader_kind(const struct field_reader *reader)
{
	const char *field = reader->weight;

	return field && (counts_sectors(field) || counts_bytes(field)) ? VALUE_BYTES : VALUE_COUNT;
}

bool field_reader_is_needed(const struct field_reader *reader)
{
	return reader->weight || reader->label_count || reader->labels_event;
}

static uint64_t field_reader_weight_of(const struct field_reader *reader,
				       const struct field_reader_member *member, struct bytes data)
{
	uint64_t value = 0;

	if (!member->weight || !tracepoint_field_number(member->weight, data, &value) ||
	    (member->weight->is_signed && (int64_t)value < 0))
		return 0;
	if (value > FIELD_WEIGHT_MAX)
		value = FIELD_WEIGHT_MAX;
	if (counts_sectors(reader->weight))
		value *= SECTOR_BYTES;
	return value < FIELD_WEIGHT_MAX ? value : FIELD_WEIGHT_MAX;
}

/* Returns "" if the value has no name. */
static const char *field_reader_name_of(struct field_reader *reader,
					const struct field_reader_member *member, size_t label,
					uint64_t value)
{
	uint32_t key = (uint32_t)((size_t)(member - reader->members) * FIELD_LABELS_MAX + label);
	string_id *name = NULL, known = idmap_get(&reader->named, value, key);
	char text[FIELD_TEXT_MAX];

	if (known != IDMAP_NONE || reader->named.count == NAMED_VALUES_MAX)
		return strtab_get(reader->names, known == IDMAP_NONE ? 0 : known);
	name = idmap_put(&reader->named, value, key);
	*name = strtab_add_len(reader->names, text,
			       field_names_write(&member->names[label], value, text, sizeof(text)));
	return strtab_get(reader->names, *name);
}

static bool field_reader_read_text(const struct tracepoint_field *field, struct bytes data,
				   char text[FIELD_TEXT_MAX], struct record_field *ret)
{
	size_t len;

	if (!tracepoint_field_text(field, data, &ret->text))
		return false;
	len = bytes_left(&ret->text);
	if (len > FIELD_TEXT_MAX)
		len = FIELD_TEXT_MAX;
	memcpy(text, ret->text.at, len);
	ret->text = bytes_of(text, len);
	ret->is_text = true;
	return true;
}

static bool field_reader_read_number(struct field_reader *reader,
				     const struct field_reader_member *member, size_t label,
				     struct bytes data, struct record_field *ret)
{
	const char *name = "";
	uint64_t number;

	if (!tracepoint_field_number(member->labels[label], data, &number))
		return false;
	if (member->names[label].count)
		name = field_reader_name_of(reader, member, label, number);
	ret->number = (int64_t)number;
	ret->text = bytes_of(name, strlen(name));
	ret->is_text = *name;
	return true;
}

static bool read_field(struct field_reader *reader, const struct field_reader_member *member,
		       size_t label, struct bytes data, struct record_field *ret)
{
	if (!member->labels[label])
		return false;
	return member->labels[label]->kind == FIELD_TEXT
		       ? field_reader_read_text(member->labels[label], data, reader->texts[label],
						ret)
		       : field_reader_read_number(reader, member, label, data, ret);
}

void field_reader_read(struct field_reader *reader, struct record_sample *sample)
{
	struct record_field *field = reader->fields;
	const struct field_reader_member *member = NULL;
	uint64_t id;

	if (tracepoint_data_id(sample->raw_data, &id))
		member = field_reader_find_member(reader, id);

	if (reader->weight)
		sample->period = member ? field_reader_weight_of(reader, member, sample->raw_data)
					: 0;
	if (!member)
		return;
	if (reader->labels_event)
		*field++ = (struct record_field){
			.name = "event",
			.is_text = true,
			.text = bytes_of(member->name, strlen(member->name)),
		};
	for (size_t i = 0; i < reader->label_count; i++) {
		field->name = reader->labels[i];
		field += read_field(reader, member, i, sample->raw_data, field);
	}
	sample->fields = reader->fields;
	sample->field_count = (unsigned)(field - reader->fields);
}
