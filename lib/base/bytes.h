/*
 * A bounded cursor for all bytes from outside (ring, ELF, DWARF, /proc, files).
 *
 * A read past the end returns zero, empties the cursor and sets `overrun`.
 * Later reads return zero too. Thus a parser can read a whole header and check
 * once, with bytes_ok(). Integers are in the machine's byte order. The cursor
 * borrows the memory.
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

/* Returns NULL past the end. The memory need not be aligned. */
static inline const void *bytes_take(struct bytes *bytes, size_t len)
{
	const unsigned char *at = bytes->at;

	if (__builtin_expect(bytes_left(bytes) < len, 0)) {
		bytes_fail(bytes);
		return NULL;
	}
	if (len) /* an empty cursor may be NULL, and adding to NULL is undefined */
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

/*
 * Returns the next len bytes as a cursor, which is empty and failed if there
 * are fewer.
 */
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

/*
 * Returns a cursor at `offset` from the current position, with the same end. It
 * has failed if the offset is outside.
 */
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

/*
 * Returns the number at an offset from the current position, or 0 if it is
 * outside.
 */
static inline uint32_t bytes_u32_at(struct bytes bytes, uint64_t offset)
{
	struct bytes at = bytes_at(bytes, offset);

	return bytes_u32(&at);
}

uint64_t bytes_uint_small(struct bytes *bytes, unsigned size_bytes);

/*
 * Reads an unsigned integer of 1, 2, 3, 4 or 8 bytes. Any other size fails the
 * cursor.
 */
static inline uint64_t bytes_uint(struct bytes *bytes, unsigned size_bytes)
{
	return size_bytes == 8 ? bytes_u64(bytes) : bytes_uint_small(bytes, size_bytes);
}

/*
 * Reads LEB128 (DWARF 5, 7.6). Bits beyond the 64th are dropped; more than 32
 * bytes fail the cursor. It is optimized for one byte, the common case. The
 * function for longer numbers gets a copy of the cursor, so that the caller's
 * cursor can stay in registers.
 */
uint64_t bytes_uleb_long(struct bytes *bytes);
int64_t bytes_sleb_long(struct bytes *bytes);

/*
 * Decodes up to four bytes without a branch on their number, which would be
 * unpredictable. Returns false if the number is longer or the cursor ends.
 */
static inline bool bytes_uleb_of_word(struct bytes *bytes, uint64_t *ret)
{
	uint32_t word, ends;

	if (bytes_left(bytes) < sizeof(word))
		return false;
	memcpy(&word, bytes->at, sizeof(word));
	ends = ~word & 0x80808080;
	if (!ends)
		return false;
	bytes->at += __builtin_ctz(ends) / 8 + 1;
	word &= ends ^ (ends - 1); /* up to the first byte that ends the number */
	*ret = (word & 0x7f) | (word >> 1 & 0x3f80) | (word >> 2 & 0x1fc000) |
	       (word >> 3 & 0xfe00000);
	return true;
}

static inline uint64_t bytes_uleb(struct bytes *bytes)
{
	/*
	 * If another thread changes the byte between the two reads, the result
	 * is just the new byte.
	 */
	if (__builtin_expect(bytes->at < bytes->end && *bytes->at < 0x80, 1))
		return *bytes->at++;

	struct bytes copy = *bytes;
	uint64_t value = bytes_uleb_long(&copy);

	*bytes = copy;
	return value;
}

static inline int64_t bytes_sleb(struct bytes *bytes)
{
	if (__builtin_expect(bytes->at < bytes->end && *bytes->at < 0x80, 1)) {
		uint8_t byte = *bytes->at++;

		return byte & 0x40 ? byte - 0x80 : byte;
	}
	/*
	 * Two bytes are common in line number programs. They are read here,
	 * because copying the cursor causes a stall.
	 */
	if (bytes_left(bytes) >= 2 && bytes->at[1] < 0x80) {
		int low = *bytes->at++ & 0x7f, high = *bytes->at++;

		return low + (high & 0x3f) * 0x80 - (high & 0x40) * 0x80;
	}

	struct bytes copy = *bytes;
	int64_t value = bytes_sleb_long(&copy);

	*bytes = copy;
	return value;
}

/*
 * Returns a NUL-terminated string, borrowed. Returns NULL and fails the cursor
 * if there is no NUL.
 */
const char *bytes_cstr(struct bytes *bytes);

/*
 * Like bytes_cstr(), but returns the text with its length, for strings in a
 * mapped file. The file, and the NUL in it, may change while it is read.
 * Therefore the length is determined once, and the string is compared and
 * copied with it. `at` is NULL if there is no NUL.
 */
struct bytes bytes_text(struct bytes *bytes);
bool bytes_are(struct bytes text, const char *str);
bool bytes_begin(struct bytes text, const char *with);
bool bytes_hold(struct bytes text, const char *what);

/*
 * Copies a text to a buffer with enough room and returns the end of the copy.
 * It uses memcpy, because sanitizers do not check mempcpy and stpcpy.
 */
static inline char *bytes_append(char *to, struct bytes text)
{
	const size_t len = bytes_left(&text);

	if (len)
		memcpy(to, text.at, len);
	return to + len;
}

#endif
