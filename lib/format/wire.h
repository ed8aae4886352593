/*
 * Protobuf messages, field by field, in place and without a schema.
 * Source: protobuf.dev/programming-guides/encoding. Groups, which proto3 has no more, are refused.
 */
#ifndef PROF_FORMAT_WIRE_H
#define PROF_FORMAT_WIRE_H

#include "base/bytes.h"

/* How a field is written: the lower three bits of its tag. */
enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

/* Every byte of a number but its last one has this bit. */
#define WIRE_GOES_ON 0x80

struct wire_field {
	uint32_t number;
	enum wire_type type;
	/* Of WIRE_BYTES: a string, a message, packed numbers. Of WIRE_VARINT: the number as it is
	 * written, like a packed list of one. Else empty. */
	struct bytes bytes;
	uint64_t value; /* of the other types, else 0 */
};

/*
 * False at the end of the message, and where it is damaged: bytes_ok(message) tells. Of a field
 * that is cut off, number and type are right.
 */
bool wire_next(struct bytes *message, struct wire_field *ret);

/*
 * The fields of a message that are single numbers: values[number] is the last one of that number,
 * and stays what it is where there is none. False when the message is damaged.
 */
bool wire_scalars(struct bytes message, uint64_t *values, size_t count);

/* Numbers of a repeated field; a zeroed list is an empty one. Free items. */
struct wire_numbers {
	uint64_t *items;
	size_t count, room;
};

/* Adds the numbers of a field, packed or not. False when they are damaged. */
bool wire_numbers_add(struct wire_numbers *numbers, const struct wire_field *field);

#endif
