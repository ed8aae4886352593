#include "format/wire.h"

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

bool wire_numbers_add(struct wire_numbers *numbers, const struct wire_field *field)
{
	struct bytes packed = field->bytes;

	if (field->type != WIRE_BYTES) {
		GROW(numbers->items, numbers->count, numbers->room);
		numbers->items[numbers->count++] = field->value;
		return true;
	}
	while (bytes_left(&packed)) {
		GROW(numbers->items, numbers->count, numbers->room);
		numbers->items[numbers->count++] = bytes_uleb(&packed);
	}
	return bytes_ok(&packed);
}
