#include "format/pprof/wire.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include "unit_test.h"

#include <stdlib.h>

static void wire_message_deinit(struct wire_message *message)
{
	free(message->bytes);
}

#define WIRE_CLEANUP CLEANUP(wire_message_deinit) struct wire_message

static void assert_written(const struct wire_message *message, const char *bytes, size_t len)
{
	assert_int_equal(message->len, len);
	assert_memory_equal(message->bytes, bytes, len);
}

/* The examples of the encoding guide. */
TEST(numbers_strings_and_nested_messages_are_encoded_as_the_guide_says)
{
	WIRE_CLEANUP number = {0}, string = {0}, nested = {0}, list = {0}, packed = {0};

	wire_put_number(&number, 1, 150);
	assert_written(&number, "\x08\x96\x01", 3);
	wire_put_bytes(&string, 2, "testing", 7);
	assert_written(&string, "\x12\x07testing", 9);
	wire_put_message(&nested, 3, &number);
	assert_written(&nested, "\x1a\x03\x08\x96\x01", 5);
	wire_put_varint(&list, 3);
	wire_put_varint(&list, 270);
	wire_put_varint(&list, 86942);
	wire_put_message(&packed, 6, &list);
	assert_written(&packed, "\x32\x06\x03\x8e\x02\x9e\xa7\x05", 8);
}

TEST(a_zero_is_not_written_but_an_empty_string_is)
{
	WIRE_CLEANUP message = {0};

	wire_put_number(&message, 1, 0);
	assert_int_equal(message.len, 0);
	wire_put_bytes(&message, 6, NULL, 0);
	assert_written(&message, "\x32\x00", 2);
}

TEST(numbers_of_any_size_read_back)
{
	WIRE_CLEANUP message = {0};
	struct wire_numbers numbers = {0};
	struct wire_field field = {.type = WIRE_BYTES};
	uint64_t expected[2 * 64];

	for (unsigned bit = 0; bit < 64; bit++) {
		expected[2 * bit] = UINT64_C(1) << bit;
		expected[2 * bit + 1] = UINT64_MAX >> bit;
		wire_put_varint(&message, expected[2 * bit]);
		wire_put_varint(&message, expected[2 * bit + 1]);
	}
	field.bytes = bytes_of(message.bytes, message.len);
	assert_true(wire_numbers_add(&numbers, &field, SIZE_MAX));
	assert_int_equal(numbers.count, ARRAY_SIZE(expected));
	assert_memory_equal(numbers.items, expected, sizeof(expected));
	free(numbers.items);
}

TEST(fields_of_any_size_read_back)
{
	static const size_t lengths[] = {0, 1, 127, 128, 16383, 16384, 1000000};
	CLEANUP(free_ptr) char *text = xcalloc(1, 1000000);
	WIRE_CLEANUP message = {0};
	struct wire_field field;
	struct bytes rest;

	for (uint32_t i = 0; i < ARRAY_SIZE(lengths); i++)
		wire_put_bytes(&message, i + 10, text, lengths[i]);
	wire_put_number(&message, UINT32_MAX >> 3, UINT64_MAX);
	rest = bytes_of(message.bytes, message.len);
	for (uint32_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		assert_true(wire_next(&rest, &field));
		assert_int_equal(field.number, i + 10);
		assert_int_equal(field.type, WIRE_BYTES);
		assert_int_equal(bytes_left(&field.bytes), lengths[i]);
	}
	assert_true(wire_next(&rest, &field));
	assert_int_equal(field.number, UINT32_MAX >> 3);
	assert_true(field.value == UINT64_MAX);
	assert_false(wire_next(&rest, &field));
	assert_true(bytes_ok(&rest));
}
