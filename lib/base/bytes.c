#include "base/bytes.h"

uint64_t bytes_uint_small(struct bytes *bytes, unsigned size_bytes)
{
	uint64_t low;

	switch (size_bytes) {
	case 1:
		return bytes_u8(bytes);
	case 2:
		return bytes_u16(bytes);
	case 3: /* DW_FORM_strx3, addrx3: little-endian, like every supported machine */
		low = bytes_u16(bytes);
		return low | (uint64_t)bytes_u8(bytes) << 16;
	case 4:
		return bytes_u32(bytes);
	default:
		bytes_fail(bytes);
		return 0;
	}
}

/*
 * 64 bits take ten bytes. Padding to a fixed length adds a few more, never a
 * megabyte.
 */
enum { LEB128_BYTES_MAX = 32 };

uint64_t bytes_uleb_long(struct bytes *bytes)
{
	const unsigned char *at = bytes->at;
	uint64_t value = 0;

	if (bytes_uleb_of_word(bytes, &value))
		return value;
	for (unsigned shift = 0; at < bytes->end && shift < 7 * LEB128_BYTES_MAX; shift += 7) {
		uint8_t byte = *at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			bytes->at = at;
			return value;
		}
	}
	bytes_fail(bytes);
	return 0;
}

int64_t bytes_sleb_long(struct bytes *bytes)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = bytes_u8(bytes);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && shift < 7 * LEB128_BYTES_MAX);
	if (byte & 0x80)
		bytes_fail(bytes);
	if (shift < 64 && (byte & 0x40))
		value |= ~UINT64_C(0) << shift;
	return (int64_t)value;
}

struct bytes bytes_text(struct bytes *bytes)
{
	const char *str = bytes_cstr(bytes);

	return str ? bytes_of(str, (size_t)((const char *)bytes->at - 1 - str))
		   : (struct bytes){.overrun = true};
}

bool bytes_are(struct bytes text, const char *str)
{
	size_t len = strlen(str);

	return text.at && bytes_left(&text) == len && memcmp(text.at, str, len) == 0;
}

bool bytes_begin(struct bytes text, const char *with)
{
	size_t len = strlen(with);

	return text.at && bytes_left(&text) >= len && memcmp(text.at, with, len) == 0;
}

bool bytes_hold(struct bytes text, const char *what)
{
	return text.at && memmem(text.at, bytes_left(&text), what, strlen(what));
}

const char *bytes_cstr(struct bytes *bytes)
{
	const unsigned char *str = bytes->at;
	const unsigned char *nul = bytes_left(bytes) ? memchr(str, 0, bytes_left(bytes)) : NULL;

	if (!nul) {
		bytes_fail(bytes);
		return NULL;
	}
	bytes->at = nul + 1;
	return (const char *)str;
}
