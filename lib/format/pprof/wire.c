#include "format/pprof/wire.h"

#include "base/alloc.h"

bool wire_next(struct bytes *message, struct wire_field *ret)
{
	uint64_t tag;

	if (!bytes_left(message))
		return false;
	tag = bytes_uleb(message);
	*ret = (struct wire_field){
		.number = (uint32_t)(tag >> 3),
		.type = tag & 7,
	};
	switch (ret->type) {
	case WIRE_VARINT:
		ret->bytes.at = message->at;
		ret->value = bytes_uleb(message);
		ret->bytes.end = message->at;
		break;
	case WIRE_FIXED64:
		ret->value = bytes_u64(message);
		break;
	case WIRE_BYTES:
		ret->bytes = bytes_sub(message, bytes_uleb(message));
		break;
	case WIRE_FIXED32:
		ret->value = bytes_u32(message);
		break;
	default:
		bytes_fail(message);
	}
	if (!(tag >> 3) || tag >> 3 > UINT32_MAX)
		bytes_fail(message);
	return bytes_ok(message);
}

bool wire_scalars(struct bytes message, uint64_t *values, size_t count)
{
	struct wire_field field;

	while (wire_next(&message, &field))
		if (field.number < count && field.type != WIRE_BYTES)
			values[field.number] = field.value;
	return bytes_ok(&message);
}

static bool wire_add_number(struct wire_numbers *numbers, uint64_t number, size_t max)
{
	if (numbers->count >= max)
		return false;
	GROW(numbers->items, numbers->count, numbers->room);
	numbers->items[numbers->count++] = number;
	return true;
}

bool wire_numbers_add(struct wire_numbers *numbers, const struct wire_field *field, size_t max)
{
	struct bytes packed = field->bytes;

	if (field->type != WIRE_BYTES)
		return wire_add_number(numbers, field->value, max);
	while (bytes_left(&packed))
		if (!wire_add_number(numbers, bytes_uleb(&packed), max))
			return false;
	return bytes_ok(&packed);
}

size_t wire_common_end(struct bytes a, struct bytes b)
{
	size_t len = bytes_left(&a) < bytes_left(&b) ? bytes_left(&a) : bytes_left(&b);
	size_t same = 0;

	while (len - same >= 8 && !memcmp(a.end - same - 8, b.end - same - 8, 8))
		same += 8;
	while (same < len && a.end[-1 - (ptrdiff_t)same] == b.end[-1 - (ptrdiff_t)same])
		same++;
	return same;
}

void wire_reserve(struct wire_message *message, size_t more)
{
	if (message->room - message->len >= more)
		return;
	message->room = (message->room + more) * 2;
	message->bytes = xreallocarray(message->bytes, message->room, 1);
}

static void put_tag(struct wire_message *message, uint32_t field, enum wire_type type)
{
	wire_put_varint(message, (uint64_t)field << 3 | type);
}

void wire_put_number(struct wire_message *message, uint32_t field, uint64_t number)
{
	if (number)
		wire_put_present(message, field, number);
}

void wire_put_present(struct wire_message *message, uint32_t field, uint64_t number)
{
	put_tag(message, field, WIRE_VARINT);
	wire_put_varint(message, number);
}

void wire_put_fixed64(struct wire_message *message, uint32_t field, uint64_t number)
{
	if (!number)
		return;
	put_tag(message, field, WIRE_FIXED64);
	wire_append(message, &number, sizeof(number));
}

void wire_put_bytes(struct wire_message *message, uint32_t field, const void *bytes, size_t len)
{
	put_tag(message, field, WIRE_BYTES);
	wire_put_varint(message, len);
	wire_append(message, bytes, len);
}

void wire_put_message(struct wire_message *message, uint32_t field,
		      const struct wire_message *nested)
{
	wire_put_bytes(message, field, nested->bytes, nested->len);
}

void wire_append(struct wire_message *message, const void *bytes, size_t len)
{
	wire_reserve(message, len);
	if (len) /* otherwise bytes may be NULL */
		memcpy(message->bytes + message->len, bytes, len);
	message->len += len;
}
