/*
 * Reads and writes protobuf messages field by field, without a schema. Source:
 * protobuf.dev/programming-guides/encoding. Groups, which proto3 lacks, are
 * refused.
 */
#ifndef PROF_FORMAT_PPROF_WIRE_H
#define PROF_FORMAT_PPROF_WIRE_H

#include "base/bytes.h"

/* The lower three bits of a tag: how the field is encoded. */
enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

/* Set in every byte of a varint except the last one. */
#define WIRE_GOES_ON 0x80

/* ---- Reading, in place ---- */

struct wire_field {
	uint32_t number;
	enum wire_type type;
	/*
	 * For WIRE_BYTES: a string, a nested message or packed numbers. For
	 * WIRE_VARINT: the encoded number, which is a packed list with one
	 * element. Otherwise empty.
	 */
	struct bytes bytes;
	uint64_t value; /* for the other types; otherwise 0 */
};

/*
 * Returns false at the end of the message and where it is damaged;
 * bytes_ok(message) distinguishes the two. number and type are valid even if
 * the field is truncated.
 */
bool wire_next(struct bytes *message, struct wire_field *ret);

/*
 * Reads all fields that are single numbers. values[number] becomes the last
 * value of that field and keeps its old value if the field is absent. Returns
 * false if the message is damaged.
 */
bool wire_scalars(struct bytes message, uint64_t *values, size_t count);

/*
 * The numbers of a repeated field. Zeroed: an empty list. The caller frees
 * items.
 */
struct wire_numbers {
	uint64_t *items;
	size_t count, room;
};

/*
 * Adds the numbers of a field, packed or not. Returns false if they are
 * damaged, or if there are more than max in total.
 */
bool wire_numbers_add(struct wire_numbers *numbers, const struct wire_field *field, size_t max);

/* Returns the length of the common end of two lists. */
size_t wire_common_end(struct bytes a, struct bytes b);

/* ---- Writing ---- */

/*
 * A message under construction. Zeroed: an empty one. The caller frees bytes.
 */
struct wire_message {
	unsigned char *bytes;
	size_t len, room;
};

enum { WIRE_LONGEST_VARINT = 10 };

/* Makes room for `more` bytes, at least doubling. */
void wire_reserve(struct wire_message *message, size_t more);

/* Adds a number without a tag: an element of a packed list. */
static inline void wire_put_varint(struct wire_message *message, uint64_t number)
{
	unsigned char *at;

	if (message->room - message->len < WIRE_LONGEST_VARINT)
		wire_reserve(message, WIRE_LONGEST_VARINT);
	at = message->bytes + message->len;
	for (; number >= WIRE_GOES_ON; number >>= 7)
		*at++ = (unsigned char)(number | WIRE_GOES_ON);
	*at++ = (unsigned char)number;
	message->len = (size_t)(at - message->bytes);
}

/* Adds a single number. 0 is the default of proto3 and is not written. */
void wire_put_number(struct wire_message *message, uint32_t field, uint64_t number);
/*
 * Like wire_put_number(), but also writes 0, because a member of a oneof is
 * present even then.
 */
void wire_put_present(struct wire_message *message, uint32_t field, uint64_t number);
void wire_put_fixed64(struct wire_message *message, uint32_t field, uint64_t number);
/* Adds a string, a nested message or a packed list, even if it is empty. */
void wire_put_bytes(struct wire_message *message, uint32_t field, const void *bytes, size_t len);
void wire_put_message(struct wire_message *message, uint32_t field,
		      const struct wire_message *nested);
/* Appends encoded fields, or an element of a packed list of fixed size. */
void wire_append(struct wire_message *message, const void *bytes, size_t len);

#endif
