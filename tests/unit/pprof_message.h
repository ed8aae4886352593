/*
 * A pprof profile as plain structs, for tests of its readers and writers. Names
 * are those of profile.proto; n_… is the number of elements of a repeated
 * field.
 *
 * tests/cli/profiles.py has tests with an independent implementation of
 * protobuf.
 */
#ifndef PROF_TESTS_PPROF_MESSAGE_H
#define PROF_TESTS_PPROF_MESSAGE_H

#include "base/alloc.h"
#include "format/pprof/wire.h"

#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

/* Structs of numbers have them in the order of their fields, starting with 1. */
struct message_type {
	int64_t type, unit;
};

struct message_label {
	int64_t key, str, num, num_unit;
};

struct message_mapping {
	uint64_t id, memory_start, memory_limit, file_offset;
	int64_t filename, build_id, has_functions, has_filenames, has_line_numbers,
		has_inline_frames;
};

struct message_line {
	uint64_t function_id;
	int64_t line;
};

struct message_function {
	uint64_t id;
	int64_t name, system_name, filename, start_line;
};

struct message_location {
	uint64_t id, mapping_id, address;
	struct message_line *line;
	size_t n_line;
};

struct message_sample {
	uint64_t *location_id;
	size_t n_location_id;
	int64_t *value;
	size_t n_value;
	struct message_label *label;
	size_t n_label;
};

struct message {
	struct message_type *sample_type;
	size_t n_sample_type;
	struct message_sample *sample;
	size_t n_sample;
	struct message_mapping *mapping;
	size_t n_mapping;
	struct message_location *location;
	size_t n_location;
	struct message_function *function;
	size_t n_function;
	char **string_table;
	size_t n_string_table;
	int64_t time_nanos, duration_nanos, period;
	struct message_type period_type;
	int64_t *comment;
	size_t n_comment;
	int64_t default_sample_type;
};

/* ---- Decoding; damaged messages fail the test ---- */

static inline void message_scalars(struct bytes bytes, void *numbers, size_t count)
{
	uint64_t values[11] = {0};

	assert_true(count < ARRAY_SIZE(values));
	assert_true(wire_scalars(bytes, values, count + 1));
	memcpy(numbers, values + 1, count * sizeof(*values));
}

#define MESSAGE_SCALARS(bytes, numbers)                                                            \
	message_scalars(bytes, numbers, sizeof(*(numbers)) / sizeof(uint64_t))

/* Adds a zeroed element at the end of a repeated field. */
#define MESSAGE_ADD(items, count)                                                                  \
	((items) = xreallocarray((items), (count) + 1, sizeof(*(items))),                          \
	 memset(&(items)[count], 0, sizeof(*(items))), &(items)[(count)++])

static inline void message_read_numbers(const struct wire_field *field, void *items, size_t *count)
{
	struct wire_numbers numbers = {
		.items = *(uint64_t **)items, .count = *count, .room = *count};

	assert_true(wire_numbers_add(&numbers, field, SIZE_MAX));
	*(uint64_t **)items = numbers.items;
	*count = numbers.count;
}

static inline void message_read_sample(struct bytes bytes, struct message_sample *sample)
{
	struct wire_field field;

	while (wire_next(&bytes, &field)) {
		if (field.number == 1)
			message_read_numbers(&field, &sample->location_id, &sample->n_location_id);
		else if (field.number == 2)
			message_read_numbers(&field, &sample->value, &sample->n_value);
		else if (field.number == 3)
			MESSAGE_SCALARS(field.bytes, MESSAGE_ADD(sample->label, sample->n_label));
	}
	assert_true(bytes_ok(&bytes));
}

static inline void message_read_location(struct bytes bytes, struct message_location *location)
{
	struct wire_field field;

	message_scalars(bytes, location, 3);
	while (wire_next(&bytes, &field))
		if (field.number == 4)
			MESSAGE_SCALARS(field.bytes, MESSAGE_ADD(location->line, location->n_line));
}

static inline void message_read_field(struct message *message, const struct wire_field *field)
{
	struct bytes bytes = field->bytes;

	switch (field->number) {
	case 1:
		MESSAGE_SCALARS(bytes, MESSAGE_ADD(message->sample_type, message->n_sample_type));
		break;
	case 2:
		message_read_sample(bytes, MESSAGE_ADD(message->sample, message->n_sample));
		break;
	case 3:
		MESSAGE_SCALARS(bytes, MESSAGE_ADD(message->mapping, message->n_mapping));
		break;
	case 4:
		message_read_location(bytes, MESSAGE_ADD(message->location, message->n_location));
		break;
	case 5:
		MESSAGE_SCALARS(bytes, MESSAGE_ADD(message->function, message->n_function));
		break;
	case 6:
		*MESSAGE_ADD(message->string_table, message->n_string_table) =
			xstrndup((const char *)bytes.at, bytes_left(&bytes));
		break;
	case 9:
		message->time_nanos = (int64_t)field->value;
		break;
	case 10:
		message->duration_nanos = (int64_t)field->value;
		break;
	case 11:
		MESSAGE_SCALARS(bytes, &message->period_type);
		break;
	case 12:
		message->period = (int64_t)field->value;
		break;
	case 13:
		message_read_numbers(field, &message->comment, &message->n_comment);
		break;
	case 14:
		message->default_sample_type = (int64_t)field->value;
		break;
	}
}

/* Free it with message_free(). */
static inline struct message *message_read(const void *data, size_t len)
{
	struct message *message = xcalloc(1, sizeof(*message));
	struct bytes bytes = bytes_of(data, len);
	struct wire_field field;

	while (wire_next(&bytes, &field))
		message_read_field(message, &field);
	assert_true(bytes_ok(&bytes));
	return message;
}

static inline void message_free(struct message *message)
{
	for (size_t i = 0; i < message->n_sample; i++) {
		free(message->sample[i].location_id);
		free(message->sample[i].value);
		free(message->sample[i].label);
	}
	for (size_t i = 0; i < message->n_location; i++)
		free(message->location[i].line);
	for (size_t i = 0; i < message->n_string_table; i++)
		free(message->string_table[i]);
	free(message->sample_type);
	free(message->sample);
	free(message->mapping);
	free(message->location);
	free(message->function);
	free(message->string_table);
	free(message->comment);
	free(message);
}
DEFINE_CLEANUP(message, message_free)

/* ---- Encoding ---- */

static inline struct wire_message message_of_numbers(const void *numbers, size_t count)
{
	struct wire_message to = {0};

	for (size_t i = 0; i < count; i++)
		wire_put_number(&to, (uint32_t)i + 1, ((const uint64_t *)numbers)[i]);
	return to;
}

/* Takes the nested message. */
static inline void message_put(struct wire_message *to, uint32_t field, struct wire_message nested)
{
	wire_put_message(to, field, &nested);
	free(nested.bytes);
}

#define MESSAGE_PUT_NUMBERS(to, field, items, count)                                               \
	for (size_t i_ = 0; i_ < (count); i_++)                                                    \
	message_put(to, field,                                                                     \
		    message_of_numbers(&(items)[i_], sizeof(*(items)) / sizeof(uint64_t)))

static inline void message_put_packed(struct wire_message *to, uint32_t field, const void *items,
				      size_t count)
{
	struct wire_message list = {0};

	for (size_t i = 0; i < count; i++)
		wire_put_varint(&list, ((const uint64_t *)items)[i]);
	if (count)
		message_put(to, field, list);
}

static inline struct wire_message message_of_sample(const struct message_sample *sample)
{
	struct wire_message to = {0};

	message_put_packed(&to, 1, sample->location_id, sample->n_location_id);
	message_put_packed(&to, 2, sample->value, sample->n_value);
	MESSAGE_PUT_NUMBERS(&to, 3, sample->label, sample->n_label);
	return to;
}

static inline struct wire_message message_of_location(const struct message_location *location)
{
	struct wire_message to = message_of_numbers(location, 3);

	MESSAGE_PUT_NUMBERS(&to, 4, location->line, location->n_line);
	return to;
}

/* Free the bytes. */
static inline struct wire_message message_packed(const struct message *message)
{
	struct wire_message to = {0};

	MESSAGE_PUT_NUMBERS(&to, 1, message->sample_type, message->n_sample_type);
	for (size_t i = 0; i < message->n_sample; i++)
		message_put(&to, 2, message_of_sample(&message->sample[i]));
	MESSAGE_PUT_NUMBERS(&to, 3, message->mapping, message->n_mapping);
	for (size_t i = 0; i < message->n_location; i++)
		message_put(&to, 4, message_of_location(&message->location[i]));
	MESSAGE_PUT_NUMBERS(&to, 5, message->function, message->n_function);
	for (size_t i = 0; i < message->n_string_table; i++)
		wire_put_bytes(&to, 6, message->string_table[i], strlen(message->string_table[i]));
	wire_put_number(&to, 9, (uint64_t)message->time_nanos);
	wire_put_number(&to, 10, (uint64_t)message->duration_nanos);
	wire_put_number(&to, 12, (uint64_t)message->period);
	message_put_packed(&to, 13, message->comment, message->n_comment);
	wire_put_number(&to, 14, (uint64_t)message->default_sample_type);
	return to;
}

#endif
