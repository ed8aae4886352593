/*
 * A bounded cursor: every byte that comes from outside (ring, ELF, DWARF, /proc, files) is read
 * through one.
 *
 * A read past the end returns zero, empties the cursor and sets `overrun`; later reads return zero
 * too. So a parser reads a whole header and asks once, with bytes_ok(). Integers are in the
 * machine's byte order (prof reads files of its own kind only). The cursor borrows the memory.
 */
#ifndef PROF_BASE_BYTES_H
#define PROF_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
	const unsigned char *at;
	const unsigned char *end;
	bool overrun;
};

static inline struct bytes bytes_of(const void *data, size_t len)
{
	const unsigned char *at = data;

	return (struct bytes){.at = at, .end = at ? at + len : at};
}

static inline size_t bytes_left(const struct bytes *bytes)
{
	return (size_t)(bytes->end - bytes->at);
}

static inline bool bytes_ok(const struct bytes *bytes)
{
	return !bytes->overrun;
}

static inline void bytes_fail(struct bytes *bytes)
{
	bytes->at = bytes->end;
	bytes->overrun = true;
}

/* NULL past the end. The memory need not be aligned. */
static inline const void *bytes_take(struct bytes *bytes, size_t len)
{
	const unsigned char *at = bytes->at;

	if (__builtin_expect(bytes_left(bytes) < len, 0)) {
		bytes_fail(bytes);
		return NULL;
	}
	if (len) /* an empty cursor may be NULL, where nothing may be added */
		bytes->at += len;
	return at;
}

static inline void bytes_skip(struct bytes *bytes, uint64_t len)
{
	if (__builtin_expect(bytes_left(bytes) < len, 0))
		bytes_fail(bytes);
	else if (len)
		bytes->at += len;
}

/* The next len bytes as a cursor of their own; an empty, failed one past the end. */
static inline struct bytes bytes_sub(struct bytes *bytes, uint64_t len)
{
	struct bytes sub = {.at = bytes->at, .end = bytes->at};

	if (bytes_left(bytes) < len) {
		bytes_fail(bytes);
		sub.overrun = true;
		return sub;
	}
	if (len)
		bytes->at += len;
	sub.end = bytes->at;
	return sub;
}

/* A cursor at `offset` from the current place, to the same end; failed when that is outside. */
static inline struct bytes bytes_at(struct bytes bytes, uint64_t offset)
{
	bytes_skip(&bytes, offset);
	return bytes;
}

#define BYTES_DEFINE_READ(name, type)                                                              \
	static inline type bytes_##name(struct bytes *bytes)                                       \
	{                                                                                          \
		type value = 0;                                                                    \
		const void *at = bytes_take(bytes, sizeof(value));                                 \
                                                                                                   \
		if (at)                                                                            \
			memcpy(&value, at, sizeof(value));                                         \
		return value;                                                                      \
	}

BYTES_DEFINE_READ(u8, uint8_t)
BYTES_DEFINE_READ(u16, uint16_t)
BYTES_DEFINE_READ(u32, uint32_t)
BYTES_DEFINE_READ(u64, uint64_t)

/* An unsigned integer of 1, 2, 3, 4 or 8 bytes; any other size fails the cursor. */
uint64_t bytes_uint(struct bytes *bytes, unsigned size_bytes);

/* LEB128 (DWARF 5, 7.6); bits beyond the 64th are dropped. The one-byte case is the common one. */
uint64_t bytes_uleb_long(struct bytes *bytes);
int64_t bytes_sleb(struct bytes *bytes);

static inline uint64_t bytes_uleb(struct bytes *bytes)
{
	if (__builtin_expect(bytes->at < bytes->end && *bytes->at < 0x80, 1))
		return *bytes->at++;
	return bytes_uleb_long(bytes);
}

/* A NUL-terminated string, borrowed; NULL (and a failed cursor) when no NUL is left. */
const char *bytes_cstr(struct bytes *bytes);

#endif
