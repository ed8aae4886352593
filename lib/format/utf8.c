#include "format/utf8.h"

uint32_t utf8_next(struct bytes *text)
{
	unsigned char lead = bytes_u8(text);
	unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;  /* not overlong */
	unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf; /* not beyond */
	unsigned more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
	uint32_t code = lead & (0x3fu >> more);

	if (lead < 0x80)
		return lead;
	if (lead < 0xc2 || lead > 0xf4)
		return UTF8_BAD;
	for (; more; more--) {
		if (!bytes_left(text) || *text->at < low || *text->at > high)
			return UTF8_BAD;
		code = code << 6 | (bytes_u8(text) & 0x3f);
		low = 0x80;
		high = 0xbf;
	}
	return code;
}

static bool is_valid(struct bytes text)
{
	while (bytes_left(&text))
		if (utf8_next(&text) == UTF8_BAD)
			return false;
	return true;
}

const char *utf8_valid(const char *str, struct arena *arena)
{
	size_t len = strlen(str);
	struct bytes text = bytes_of(str, len);
	char *copy, *to;

	if (is_valid(text))
		return str;
	copy = to = arena_alloc(arena, len * strlen(UTF8_REPLACEMENT) + 1);
	while (bytes_left(&text)) {
		const unsigned char *at = text.at;

		if (utf8_next(&text) == UTF8_BAD)
			to = stpcpy(to, UTF8_REPLACEMENT);
		else
			to = mempcpy(to, at, (size_t)(text.at - at));
	}
	*to = '\0';
	return copy;
}
